"""The receipts of the slow-cook lane: what each run refreshed, how well documents were found, what became worse."""

from dataclasses import dataclass
from typing import Any, Final

import orjson
from redis.asyncio import Redis

from lithify.events import TenantScope
from lithify.streams import keys
from lithify.streams.outage import outages

KEPT: Final = 50
TTL_S: Final = 400 * 86_400

Receipt = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LaneReceipts:
    """The newest first; older ones than the last fifty are gone."""

    redis: Redis

    async def append(self, scope: TenantScope, receipt: Receipt) -> None:
        key = keys.docs_lane(scope.tenant)
        with outages():
            async with self.redis.pipeline(transaction=True) as pipe:
                pipe.lpush(key, orjson.dumps(receipt))
                pipe.ltrim(key, 0, KEPT - 1)
                pipe.expire(key, TTL_S)
                await pipe.execute()

    async def all(self, scope: TenantScope) -> list[Receipt]:
        with outages():
            lines = await self.redis.lrange(keys.docs_lane(scope.tenant), 0, -1)
        return [orjson.loads(line) for line in lines]
