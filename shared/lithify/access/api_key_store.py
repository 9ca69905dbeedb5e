"""Keeps API keys in Redis: digests and what they open, never a key itself."""

from collections.abc import Awaitable, Mapping
from typing import Final, cast

from redis.asyncio import Redis

from lithify.access.api_key import ApiKey, ApiKeyRequest, Credential, KeyScope
from lithify.events import AnyTenant, Clock, EveryTenant
from lithify.streams import keys
from lithify.streams.outage import outages

_BETWEEN: Final = ","


class ApiKeyStore:
    """The keys of all tenants; each may have several, so that a new one takes over before the old one is revoked.

    Records of revoked keys stay: a service that ever had a key must not open up because its last one was revoked.
    Every call raises Unavailable if Redis did not answer.
    """

    def __init__(self, redis: Redis, clock: Clock) -> None:
        self._redis = redis
        self._clock = clock

    async def create(self, request: ApiKeyRequest) -> tuple[ApiKey, Credential]:
        """Returns the record, durable by then, and the credential, which nobody can ever read again."""
        credential = Credential.new()
        key = ApiKey(
            id=credential.id,
            tenant=request.tenant,
            name=request.name,
            scopes=request.scopes,
            created_at=self._clock(),
            digest=credential.digest(),
        )
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hset(keys.api_key(key.id), items=_fields(key))
            pipe.sadd(keys.API_KEYS, key.id)
            with outages():
                await pipe.execute()
        return key, credential

    async def find(self, key_id: str) -> ApiKey | None:
        with outages():
            reply = self._redis.hgetall(keys.api_key(key_id))
            fields = await cast("Awaitable[dict[bytes, bytes]]", reply)
        return _read_key(key_id, fields) if fields else None

    async def exist(self) -> bool:
        """Says whether there ever was a key."""
        with outages():
            return bool(await self._redis.scard(keys.API_KEYS))

    async def all(self, scope: AnyTenant) -> list[ApiKey]:
        """Returns the keys the scope may see, the oldest first."""
        with outages():
            ids = await cast("Awaitable[set[bytes]]", self._redis.smembers(keys.API_KEYS))
        found = [await self.find(key_id.decode()) for key_id in ids]
        return sorted(
            (key for key in found if key is not None and _is_in(key, scope)),
            key=lambda key: (key.created_at, key.id),
        )

    async def revoke(self, scope: AnyTenant, key_id: str) -> ApiKey | None:
        """Revokes a key for good; repeating keeps the first time. Returns None if the scope sees no such key."""
        key = await self.find(key_id)
        if key is None or not _is_in(key, scope):
            return None
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hsetnx(keys.api_key(key_id), "revoked_at", str(self._clock()))
            pipe.hdel(keys.api_key(key_id), "digest")
            with outages():
                await pipe.execute()
        return await self.find(key_id)


def _is_in(key: ApiKey, scope: AnyTenant) -> bool:
    return isinstance(scope, EveryTenant) or key.tenant == scope.tenant


def _fields(key: ApiKey) -> list[str | int]:
    fields: dict[str, str | int] = {
        "tenant": key.tenant,
        "name": key.name,
        "scopes": _BETWEEN.join(sorted(key.scopes)),
        "created_at": key.created_at,
        "digest": key.digest,
    }
    return [word for pair in fields.items() for word in pair]


def _read_key(key_id: str, raw: Mapping[bytes, bytes]) -> ApiKey:
    fields = {name.decode(): value.decode() for name, value in raw.items()}
    revoked_at = fields.get("revoked_at")
    return ApiKey(
        id=key_id,
        tenant=fields["tenant"],
        name=fields["name"],
        scopes=frozenset(KeyScope(scope) for scope in fields["scopes"].split(_BETWEEN)),
        created_at=int(fields["created_at"]),
        revoked_at=None if revoked_at is None else int(revoked_at),
        digest=fields.get("digest", ""),
    )
