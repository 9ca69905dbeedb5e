"""Every metric of ours: those that count or time work, in one registry per process, and the levels of queues.

None is labelled by tenant or id. Levels are read from Redis for every scrape.
"""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final, TypeAlias, TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

T = TypeVar("T")

REGISTRY: Final = CollectorRegistry()
"""Holds our own metrics only. The library's default registry would add whatever other packages leave there."""

# A turn is searchable after some 20 ms when little waits, and after minutes behind a backlog.
WAITING: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600)
# From answers out of a cache to the deadline of two seconds and a little over.
ANSWERING: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4)
# A batch: from counting tokens to embedding 256 long turns on a busy machine.
HANDLING: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
# Up to the longest time a job may take.
JOB_SECONDS: Final = (0.01, 0.1, 1, 10, 60, 300, 900, 3600)
TOKENS: Final = (0, 100, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000)

# Memory, processor time and open files, as far as the system tells them.
ProcessCollector(registry=REGISTRY)

BUILD: Final = Info("lithify_build", "The version that runs.", registry=REGISTRY)
BUILD.info({"version": version("lithify")})

EVENTS_ACCEPTED: Final = Counter(
    "lithify_events_accepted_total",
    "Turns the gateway answered, by result: accepted, duplicate, conflict or invalid; "
    "refused counts requests turned away above the high-water mark.",
    ["result"],
    registry=REGISTRY,
)
MESSAGES: Final = Counter(
    "lithify_messages_total",
    "Messages a stage has finished with, by outcome: handled, failed (to be tried again) or dead.",
    ["stage", "outcome"],
    registry=REGISTRY,
)
MESSAGE_DURATION: Final = Histogram(
    "lithify_message_duration_seconds",
    "Time one call of a stage's handler took, for its whole batch.",
    ["stage"],
    registry=REGISTRY,
    buckets=HANDLING,
)
REDELIVERIES: Final = Counter(
    "lithify_redeliveries_total",
    "Messages delivered again, because their worker died, failed or took longer than its lease.",
    ["stage"],
    registry=REGISTRY,
)
STREAM_LOST: Final = Counter(
    "lithify_stream_lost_total",
    "Entries that were deleted from a stream before they were acknowledged; nothing of ours does that.",
    ["stage"],
    registry=REGISTRY,
)
DEAD_LETTERS_DROPPED: Final = Counter(
    "lithify_dead_letters_dropped_total",
    "Dead letters deleted because their tenant had more than are kept; the archive has their events.",
    registry=REGISTRY,
)
UNREADABLE_RECORDS: Final = Counter(
    "lithify_unreadable_records_total",
    "Times a stored record was left out of an answer because a field of it is not what it should be.",
    registry=REGISTRY,
)
ACCEPT_TO_SEARCHABLE: Final = Histogram(
    "lithify_accept_to_searchable_seconds",
    "Time from a turn's acceptance until recall can find it; a dead letter sent again counts from then on.",
    registry=REGISTRY,
    buckets=WAITING,
)
JOB_DURATION: Final = Histogram(
    "lithify_job_duration_seconds",
    "Time one attempt of a job took, by outcome: done or failed.",
    ["queue", "job", "outcome"],
    registry=REGISTRY,
    buckets=JOB_SECONDS,
)
ASSEMBLE_DURATION: Final = Histogram(
    "lithify_assemble_duration_seconds",
    "Time an assemble took, by phase: read (tail, rules and memories), compose, note (the uses) and total.",
    ["phase"],
    registry=REGISTRY,
    buckets=ANSWERING,
)
ASSEMBLE_TOKENS: Final = Histogram(
    "lithify_assemble_tokens", "Tokens of the assembled memory part.", registry=REGISTRY, buckets=TOKENS
)
TRACES: Final = Counter(
    "lithify_traces_total",
    "Receipts of answers by what became of them: kept, or dropped because they could not be written in time.",
    ["result"],
    registry=REGISTRY,
)


class StageMeter:
    """Counts what becomes of the messages of a stage, which is named like its consumer group.

    Looks its metrics up once: with that, a batch costs a few microseconds and not one per message.
    """

    def __init__(self, stage: str) -> None:
        self.handled = MESSAGES.labels(stage, "handled")
        self.failed = MESSAGES.labels(stage, "failed")
        self.dead = MESSAGES.labels(stage, "dead")
        self.redelivered = REDELIVERIES.labels(stage)
        self.lost = STREAM_LOST.labels(stage)
        self._duration = MESSAGE_DURATION.labels(stage)

    def time_calls(self, handler: Callable[[T], Awaitable[None]]) -> Callable[[T], Awaitable[None]]:
        """Returns a handler that calls the given one and times each call, also one that fails."""

        async def handle(batch: T) -> None:
            started = time.perf_counter()
            try:
                await handler(batch)
            finally:
                self._duration.observe(time.perf_counter() - started)

        return handle


@dataclass(frozen=True, slots=True)
class Level:
    """A gauge that no process keeps: whoever is asked looks it up."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()


GROUP: Final = ("stream", "group")

REDIS_UP: Final = Level("lithify_redis_up", "1 if Redis told all of the following in time, else 0 and none is told.")
STREAM_UNREAD: Final = Level(
    "lithify_stream_unread", "Messages not yet delivered to a group, over all partitions.", GROUP
)
STREAM_PENDING: Final = Level(
    "lithify_stream_pending", "Messages delivered and not yet acknowledged, over all partitions.", GROUP
)
OLDEST_UNREAD: Final = Level(
    "lithify_stream_oldest_unread_age_seconds",
    "Age of the oldest message not yet delivered, 0 if there is none.",
    GROUP,
)
OLDEST_PENDING: Final = Level(
    "lithify_stream_oldest_pending_age_seconds",
    "Age of the oldest message not yet acknowledged, 0 if there is none.",
    GROUP,
)
DEAD_LETTERS: Final = Level("lithify_dead_letters", "Events that were given up and are kept until someone decides.")
JOBS: Final = Level(
    "lithify_jobs",
    "Jobs by status: queued, started, scheduled (for another attempt), deferred or failed.",
    ("queue", "status"),
)

LEVELS: Final = (REDIS_UP, STREAM_UNREAD, STREAM_PENDING, OLDEST_UNREAD, OLDEST_PENDING, DEAD_LETTERS, JOBS)

Readings: TypeAlias = Mapping[Level, Mapping[tuple[str, ...], float]]
"""For each level its values by the values of its labels."""


class _Once(Collector):
    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        for level, values in self._readings.items():
            family = GaugeMetricFamily(level.name, level.meaning, labels=level.labels)
            for labels, value in values.items():
                family.add_metric(labels, value)
            yield family


def exposition(readings: Readings) -> bytes:
    """Returns the readings in Prometheus's text format."""
    registry = CollectorRegistry()
    registry.register(_Once(readings))
    return generate_latest(registry)
