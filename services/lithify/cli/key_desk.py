"""The two places where keys are made: Redis for the operator, a running service for a tenant's administrator."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from lithify.access import ApiKeyRequest, ApiKeyStore
from lithify.cli.api import Api
from lithify.errors import Invalid
from lithify.events import EVERY_TENANT, system_clock
from lithify.gateway.key_schema import issued, shown
from lithify.node.redis_server import EmbeddedRedis
from lithify.settings import Settings
from lithify.streams import open_producer

T = TypeVar("T")
Row = dict[str, Any]


class KeyDesk(Protocol):
    """Keys as rows of JSON; only the row of a new one has the key itself."""

    def create(self, wanted: ApiKeyRequest) -> Row: ...

    def rows(self) -> list[Row]: ...

    def revoke(self, key_id: str) -> Row: ...


class OperatorDesk:
    """Whoever reaches Redis is the operator: makes keys of every tenant, also before any service runs."""

    def __init__(self, redis_url: str) -> None:
        self._redis_url = redis_url

    def create(self, wanted: ApiKeyRequest) -> Row:
        return issued(*self._run(lambda store: store.create(wanted))).model_dump(mode="json")

    def rows(self) -> list[Row]:
        return [shown(key).model_dump(mode="json") for key in self._run(lambda store: store.all(EVERY_TENANT))]

    def revoke(self, key_id: str) -> Row:
        key = self._run(lambda store: store.revoke(EVERY_TENANT, key_id))
        if key is None:
            raise Invalid(f"there is no key {key_id!r}; `lithify keys list` shows all")
        return shown(key).model_dump(mode="json")

    def _run(self, work: Callable[[ApiKeyStore], Awaitable[T]]) -> T:
        async def connected() -> T:
            async with open_producer(self._redis_url) as redis:
                return await work(ApiKeyStore(redis, system_clock))

        return asyncio.run(connected())


class ServiceDesk:
    """Asks a running service, with the rights of `LITHIFY_API_KEY`."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def create(self, wanted: ApiKeyRequest) -> Row:
        # A tenant that was not named is the one of the administrator's key.
        body = wanted.model_dump(mode="json", exclude_unset=True)
        row: Row = self._api.call("POST", "/v1/keys", body)
        return row

    def rows(self) -> list[Row]:
        rows: list[Row] = self._api.call("GET", "/v1/keys")["keys"]
        return rows

    def revoke(self, key_id: str) -> Row:
        row: Row = self._api.call("DELETE", f"/v1/keys/{quote(key_id, safe='')}")
        return row


def desk_for(settings: Settings, *, by_service: bool) -> KeyDesk:
    """Redis where it can be reached and nothing says otherwise: an API key, or a service named on the command line."""
    redis_url = None if by_service or settings.api_key else reachable_redis(settings)
    return ServiceDesk(Api(settings)) if redis_url is None else OperatorDesk(redis_url)


def reachable_redis(settings: Settings) -> str | None:
    """The Redis that is named, else that of a node running in the data folder."""
    folder = settings.data_dir / "redis"
    if settings.redis_url is None and (folder / "redis.sock").exists():
        return EmbeddedRedis(folder).url
    return settings.redis_url
