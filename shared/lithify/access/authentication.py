"""Authenticates callers: by API key, or without one from the own machine as long as there are no keys."""

import ipaddress
from dataclasses import dataclass
from typing import Final, Protocol

import structlog

from lithify.access.api_key import ApiKey, Credential, KeyScope
from lithify.access.api_key_store import ApiKeyStore
from lithify.access.key_cache import KeyCache
from lithify.access.rate_limit import RateLimit
from lithify.errors import LithifyError, Misconfigured

EXISTENCE: Final = "exist"
# After this time every process refuses a revoked key; asking Redis once a second and key costs nothing.
KEYS_FRESH_S: Final = 1.0
# The first key shuts out all who have none; that should be felt at once.
EXISTENCE_FRESH_S: Final = 0.1

log = structlog.get_logger(__name__)


class Unauthorised(LithifyError):
    """The API key is missing, unknown or revoked."""


class Forbidden(LithifyError):
    """The API key may not do this, or not for this tenant."""


class Authenticator(Protocol):
    async def authenticate(self, presented: str | None, required: KeyScope) -> ApiKey | None:
        """Returns the caller's key; None for whoever needs none.

        Raises Unauthorised, Forbidden or Overloaded, and Unavailable if the key is not known and Redis is away.
        """


class OpenAuthenticator:
    """Lets everybody in without a key: for tests and tools inside one process."""

    async def authenticate(self, presented: str | None, required: KeyScope) -> ApiKey | None:  # noqa: ARG002 - the contract's
        return None


@dataclass(frozen=True, slots=True)
class ApiKeyAuthenticator:
    """Knows keys for a second without asking Redis, and through an outage who came in shortly before it.

    `loopback` says that only the own machine reaches the service; nothing else may make keys needless.
    """

    keys: KeyCache[ApiKey]
    existence: KeyCache[bool]
    rate: RateLimit
    loopback: bool

    async def authenticate(self, presented: str | None, required: KeyScope) -> ApiKey | None:
        if presented is None:
            await self._check_keyless()
            return None
        key = await self._identify(presented)
        if not key.allows(required):
            log.warning("access_refused", key_id=key.id, missing=required.value)
            raise Forbidden(f"key {key.id} has not the scope {required.value}")
        await self.rate.spend(key.id)
        return key

    async def keys_exist(self) -> bool:
        """Says whether there ever was a key; asked at start, so that a later outage finds the answer known."""
        return bool(await self.existence.get(EXISTENCE))

    def forget(self) -> None:
        """Drops what is cached. Call it after keys were made or revoked here; others notice within a second."""
        self.keys.clear()
        self.existence.clear()

    async def is_keyless(self) -> bool:
        """Says whether callers need no key: on the own machine, as long as there never was one."""
        return self.loopback and not await self.keys_exist()

    async def _check_keyless(self) -> None:
        if not await self.is_keyless():
            raise Unauthorised("an API key is needed: send `Authorization: Bearer lf_…`")

    async def _identify(self, presented: str) -> ApiKey:
        credential = Credential.parse(presented)
        key = None if credential is None else await self.keys.get(credential.id)
        if credential is None or key is None or not key.recognises(credential):
            log.warning("access_refused", key_id=credential and credential.id, missing="known key")
            raise Unauthorised("this API key is unknown or was revoked")
        return key


def make_authenticator(store: ApiKeyStore, rate: RateLimit, *, loopback: bool) -> ApiKeyAuthenticator:
    async def exist(_: str) -> bool:
        return await store.exist()

    keys = KeyCache(store.find, KEYS_FRESH_S)
    return ApiKeyAuthenticator(keys, KeyCache(exist, EXISTENCE_FRESH_S), rate, loopback)


def require_safe_bind(host: str, *, keys_exist: bool) -> None:
    """Refuses to be reachable from other machines while everybody who reaches the service may do everything.

    Called at start, before the first request is answered. Raises Misconfigured with the way out.
    """
    if not keys_exist and not is_loopback(host):
        raise Misconfigured(
            f"setting LITHIFY_HOST cannot be {host!r}: without API keys only a loopback address is allowed. "
            "Make one first: lithify keys create --tenant NAME --scopes admin"
        )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
