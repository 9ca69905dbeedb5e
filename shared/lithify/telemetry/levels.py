"""The metrics that tell how full the queues of the whole system are; read from Redis for every scrape."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


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
