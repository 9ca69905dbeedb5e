"""The one page an operator looks at first, as data: ages before counts."""

from dataclasses import dataclass

from lithify.jobs import QueueState
from lithify.monitoring.figures import DeadState
from lithify.monitoring.pulse import Reading, Throughput
from lithify.monitoring.stages import Lateness, Stage, lateness_of, stages_of


@dataclass(frozen=True, slots=True)
class WorkersAlive:
    """`ready` are those that read; `last_beat_ms` is how long ago the most silent of them was heard."""

    last_beat_ms: int | None
    alive: int
    ready: int


@dataclass(frozen=True, slots=True)
class Overview:
    at: int
    stages: tuple[Stage, ...]
    accept_to_searchable: Lateness
    throughput: Throughput
    dead_letters: DeadState
    workers: WorkersAlive
    queues: tuple[QueueState, ...]


def overview_of(reading: Reading) -> Overview:
    figures = reading.figures
    beats = [max(0, figures.at - worker.beat_at) for worker in figures.workers]
    return Overview(
        at=figures.at,
        stages=stages_of(figures.streams),
        accept_to_searchable=lateness_of(figures.workers),
        throughput=reading.throughput,
        dead_letters=figures.dead,
        workers=WorkersAlive(max(beats, default=None), len(beats), sum(worker.ready for worker in figures.workers)),
        queues=figures.queues,
    )
