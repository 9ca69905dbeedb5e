"""The background work of documents: its names, how it is asked for, and what its scheduled runs reported."""

from dataclasses import dataclass
from typing import Any, Final

import orjson
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.events import TenantScope
from lithify.jobs import Ticket, enqueue, open_queue
from lithify.streams import keys
from lithify.streams.outage import outages

QUEUE: Final = "docs"
EMBED: Final = "embed-docs"
REFRESH: Final = "cook-docs"
"""Refreshes and measures on schedule; waiting jobs of earlier releases have this name, so it stays."""

KEPT_RUNS: Final = 50
TTL_S: Final = 400 * 86_400

LaneRun = dict[str, Any]
"""What one run refreshed, how well documents were found after it, and what became worse."""


async def request_vectors(jobs: BlockingRedis) -> Ticket:
    """Asks for the vectors of new chunks, durable on return; a job that waits already will see them, too.

    Raises Unavailable.
    """
    return await enqueue(open_queue(jobs, QUEUE), EMBED, {}, unique_id=EMBED)


@dataclass(frozen=True, slots=True)
class LaneRuns:
    """Keeps the reports of the scheduled runs, newest first; older ones than the last fifty are gone."""

    redis: Redis

    async def append(self, scope: TenantScope, run: LaneRun) -> None:
        key = keys.docs_lane(scope.tenant)
        with outages():
            async with self.redis.pipeline(transaction=True) as pipe:
                pipe.lpush(key, orjson.dumps(run))
                pipe.ltrim(key, 0, KEPT_RUNS - 1)
                pipe.expire(key, TTL_S)
                await pipe.execute()

    async def all(self, scope: TenantScope) -> list[LaneRun]:
        with outages():
            lines = await self.redis.lrange(keys.docs_lane(scope.tenant), 0, -1)
        return [orjson.loads(line) for line in lines]
