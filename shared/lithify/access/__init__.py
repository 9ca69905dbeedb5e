"""API keys: who may do what in which tenant, and how often."""

from lithify.access.bind import is_loopback, require_safe_bind
from lithify.access.door import Door, KeyDoor, OpenDoor, key_door
from lithify.access.key import ApiKey, Credential, KeyScope
from lithify.access.key_store import KeyStore
from lithify.access.rate_limit import RateLimit
from lithify.access.refusal import Forbidden, Unauthorised
from lithify.access.wanted import WantedKey

__all__ = [
    "ApiKey",
    "Credential",
    "Door",
    "Forbidden",
    "KeyDoor",
    "KeyScope",
    "KeyStore",
    "OpenDoor",
    "RateLimit",
    "Unauthorised",
    "WantedKey",
    "is_loopback",
    "key_door",
    "require_safe_bind",
]
