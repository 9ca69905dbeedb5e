"""Asks for compactions: of sessions that have said enough since the last one, and of those that fell silent."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast

import structlog
from pydantic import JsonValue
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.compaction import Cause, SessionKey, request_compaction
from lithify.compactor.session import KEPT_S, SessionStates
from lithify.events import Clock, Event
from lithify.jobs import JobContext
from lithify.memory.tokens import estimate_tokens
from lithify.streams import Delivery, keys
from lithify.streams.outage import outages
from lithify.telemetry.trace_context import trace_id_of

IDLE_JOB: Final = "compact_idle"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CompactionTrigger:
    """`tokens` of 0 never asks for a compaction; `idle` is whether anybody looks for silent sessions."""

    redis: Redis
    jobs: BlockingRedis
    partitions: int
    tokens: int
    idle: bool
    clock: Clock

    async def handle(self, deliveries: Sequence[Delivery]) -> None:
        """Counts what was said; what is due is queued on return.

        A delivery that comes twice is counted twice and may ask too early; the job looks at what is there. One that
        comes while the job runs is answered by the next delivery, or when the session falls silent.
        """
        spoken = spoken_tokens(delivery.event for delivery in deliveries)
        if self.idle:
            await note_activity(self.redis, self.partitions, spoken, self.clock())
        if not self.tokens:
            return
        totals = await SessionStates(self.redis, self.partitions).add_tokens(spoken)
        traces = last_traces(delivery.event for delivery in deliveries)
        for key in [key for key, total in totals.items() if total >= self.tokens]:
            ticket = await request_compaction(self.jobs, key, Cause.TOKENS, traces.get(key))
            log.info(
                "compaction_asked_for",
                job_id=ticket.job_id,
                tokens=totals[key],
                is_new=ticket.is_new,
                trace_id=trace_id_of(traces.get(key)),
            )


def spoken_tokens(events: Iterable[Event]) -> Counter[SessionKey]:
    counts: Counter[SessionKey] = Counter()
    for event in events:
        counts[session_of(event)] += estimate_tokens(event.text)
    return counts


def last_traces(events: Iterable[Event]) -> dict[SessionKey, str]:
    """Returns the last trace context in each session: that of the turn which made it long enough."""
    return {session_of(event): event.traceparent for event in events if event.traceparent}


def session_of(event: Event) -> SessionKey:
    return SessionKey(event.tenant, event.user, event.session)


@dataclass(frozen=True, slots=True)
class IdleSearch:
    redis: Redis
    partitions: int
    idle_ms: int
    clock: Clock


async def note_activity(redis: Redis, partitions: int, sessions: Iterable[SessionKey], now_ms: int) -> None:
    """Notes when each session last said something. Raises Unavailable if Redis did not answer."""
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
