"""Remembers when each session last said something, and compacts those that fell silent."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

from pydantic import JsonValue
from redis.asyncio import Redis

from lithify.compaction import Cause, SessionKey, request_compaction
from lithify.compactor.session_state import KEPT_S
from lithify.events import Clock
from lithify.jobs import JobContext
from lithify.streams import keys
from lithify.streams.outage import outages

IDLE_JOB: Final = "compact_idle"


@dataclass(frozen=True, slots=True)
class IdleSearch:
    redis: Redis
    partitions: int
    idle_ms: int
    clock: Clock


async def note_activity(redis: Redis, partitions: int, sessions: Iterable[SessionKey], now_ms: int) -> None:
    """Raises Unavailable if Redis did not answer."""
    async with redis.pipeline(transaction=False) as pipe:
        for key in sessions:
            name = keys.activity(keys.partition_of(key.tenant, key.session, partitions))
            pipe.zadd(name, {key.name: now_ms})
            pipe.expire(name, KEPT_S)
        with outages():
            await pipe.execute()


async def compact_idle(context: JobContext[IdleSearch]) -> JsonValue:
    """Asks for a compaction of every session that has been silent for long enough, once for each silence."""
    search = context.parts
    before = search.clock() - search.idle_ms
    asked = 0
    for name in map(keys.activity, range(search.partitions)):
        with outages():
            silent = cast("list[bytes]", await search.redis.zrangebyscore(name, "-inf", before))
        for session in silent:
            await request_compaction(context.connection, SessionKey.parse(session), Cause.IDLE)
        asked += len(silent)
        # Only now, so that a crash repeats instead of losing; who spoke meanwhile has a later time and stays.
        with outages():
            await search.redis.zremrangebyscore(name, "-inf", before)
    return {"asked": asked}
