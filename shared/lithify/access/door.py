"""Decides who comes in: by key, or without one from the own machine as long as there are no keys."""

from dataclasses import dataclass
from typing import Final, Protocol

import structlog

from lithify.access.key import ApiKey, Credential, KeyScope
from lithify.access.key_store import KeyStore
from lithify.access.rate_limit import RateLimit
from lithify.access.refusal import Forbidden, Unauthorised
from lithify.access.remembered import Remembered

EXISTENCE: Final = "exist"
# After this time every process refuses a revoked key; asking Redis once a second and key costs nothing.
KEYS_FRESH_S: Final = 1.0
# The first key closes the door to all who have none; that should be felt at once.
EXISTENCE_FRESH_S: Final = 0.1

log = structlog.get_logger(__name__)


class Door(Protocol):
    async def admit(self, presented: str | None, scope: KeyScope) -> ApiKey | None:
        """The caller's key; None for whoever needs none.

        Raises Unauthorised, Forbidden or Overloaded, and Unavailable if the key is not known and Redis is away.
        """


class OpenDoor:
    """Admits everybody: for tests and tools inside one process."""

    async def admit(self, presented: str | None, scope: KeyScope) -> ApiKey | None:  # noqa: ARG002 - the contract's
        return None


@dataclass(frozen=True, slots=True)
class KeyDoor:
    """Knows keys for a second without asking Redis, and through an outage who came in shortly before it.

    `loopback` says that only the own machine reaches the service; nothing else may make keys needless.
    """

    keys: Remembered[ApiKey]
    existence: Remembered[bool]
    rate: RateLimit
    loopback: bool

    async def admit(self, presented: str | None, scope: KeyScope) -> ApiKey | None:
        if presented is None:
            await self._check_open()
            return None
        key = await self._recognise(presented)
        if not key.allows(scope):
            log.warning("access_refused", key_id=key.id, missing=scope.value)
            raise Forbidden(f"key {key.id} has not the scope {scope.value}")
        await self.rate.spend(key.id)
        return key

    async def keys_exist(self) -> bool:
        """Whether there ever was a key; asked at start, so that a later outage finds the answer known."""
        return bool(await self.existence.get(EXISTENCE))

    def forget(self) -> None:
        """Call after keys were made or revoked in this process; others notice within a second."""
        self.keys.forget()
        self.existence.forget()

    async def _check_open(self) -> None:
        if not self.loopback or await self.keys_exist():
            raise Unauthorised("an API key is needed: send `Authorization: Bearer lf_…`")

    async def _recognise(self, presented: str) -> ApiKey:
        credential = Credential.parse(presented)
        key = None if credential is None else await self.keys.get(credential.id)
        if credential is None or key is None or not key.recognises(credential):
            log.warning("access_refused", key_id=credential and credential.id, missing="known key")
            raise Unauthorised("this API key is unknown or was revoked")
        return key


def key_door(store: KeyStore, rate: RateLimit, *, loopback: bool) -> KeyDoor:
    async def exist(_: str) -> bool:
        return await store.exist()

    return KeyDoor(Remembered(store.find, KEYS_FRESH_S), Remembered(exist, EXISTENCE_FRESH_S), rate, loopback)
