"""API keys: who may do what in which tenant, and how often."""

from lithify.access.api_key import ApiKey, ApiKeyRequest, Credential, KeyScope
from lithify.access.api_key_store import ApiKeyStore
from lithify.access.authentication import (
    ApiKeyAuthenticator,
    Authenticator,
    Forbidden,
    OpenAuthenticator,
    Unauthorised,
    is_loopback,
    make_authenticator,
    require_safe_bind,
)
from lithify.access.rate_limit import RateLimit

__all__ = [
    "ApiKey",
    "ApiKeyAuthenticator",
    "ApiKeyRequest",
    "ApiKeyStore",
    "Authenticator",
    "Credential",
    "Forbidden",
    "KeyScope",
    "OpenAuthenticator",
    "RateLimit",
    "Unauthorised",
    "is_loopback",
    "make_authenticator",
    "require_safe_bind",
]
