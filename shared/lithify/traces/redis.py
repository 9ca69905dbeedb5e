"""Receipts in Redis, for processes that share one: any of them explains what another has answered.

It may be a Redis of its own without an append-only file (`LITHIFY_TRACE_REDIS_URL`); in the one that holds accepted
events the bounds of each tenant keep them small.
"""

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from redis.asyncio import Redis

from lithify.batching import batched
from lithify.streams import keys, script
from lithify.streams.outage import outages
from lithify.traces.shelf import DEFAULT_LIMITS, PAGE, TraceLimits

SCAN: Final = 500


@dataclass(frozen=True, slots=True)
class RedisTraces:
    """Keeps every receipt under a key of its own, which expires by itself, and a list of them to know the oldest."""

    redis: Redis
    limits: TraceLimits = DEFAULT_LIMITS

    async def put(self, tenant: str, trace_id: str, data: bytes) -> None:
        limits = self.limits
        names = [keys.trace(tenant, trace_id), keys.trace_index(tenant), keys.trace_bytes(tenant)]
        arguments: list[str | bytes | int] = [
            data,
            limits.ttl_s,
            trace_id,
            limits.most,
            limits.most_bytes,
            keys.trace(tenant, ""),
        ]
        with outages():
            await script.load("keep_trace").run(self.redis, names, arguments)

    async def get(self, tenant: str, trace_id: str) -> bytes | None:
        with outages():
            return cast("bytes | None", await self.redis.get(keys.trace(tenant, trace_id)))

    async def pages(self, tenant: str) -> AsyncIterator[Mapping[str, bytes]]:
        """Looks for the keys themselves: the list may have lost one, and forgetting must not."""
        with outages():
            found = self.redis.scan_iter(keys.matching("trace", tenant, None), count=SCAN)
            names = [name async for name in found]
        for page in batched(names, PAGE):
            with outages():
                values = await cast("Awaitable[list[bytes | None]]", self.redis.mget(page))
            yield {keys.parts_of(name)[1]: value for name, value in zip(page, values, strict=True) if value}

    async def remove(self, tenant: str, trace_ids: Sequence[str]) -> int:
        """Leaves the ids in the list, where they say nothing and go in their turn."""
        if not trace_ids:
            return 0
        with outages():
            return int(await self.redis.delete(*(keys.trace(tenant, trace_id) for trace_id in trace_ids)))

    async def sweep(self) -> None:
        """Does nothing: Redis expires keys by itself."""
