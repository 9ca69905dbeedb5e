"""Reads what was stored and asks for a compaction once a session has said enough since the last one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import structlog
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.compaction import Cause, SessionKey, request_compaction
from lithify.compactor.activity import note_activity
from lithify.compactor.session_state import SessionStates
from lithify.events import Clock, Event
from lithify.memory.tokens import estimate_tokens
from lithify.streams import Delivery
from lithify.telemetry.trace_context import trace_id_of

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
        """What is due is queued on return.

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
    """The last trace context in each session: that of the turn which made it long enough."""
    return {session_of(event): event.traceparent for event in events if event.traceparent}


def session_of(event: Event) -> SessionKey:
    return SessionKey(event.tenant, event.user, event.session)
