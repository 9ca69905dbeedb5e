"""What an operator looks at first, as data, ages before counts: how each stage fares, in one word, and the whole."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lithify.jobs import QueueState
from lithify.monitoring.figures import DeadLetterState, GroupState, StreamState
from lithify.monitoring.pulse import Reading, Throughput
from lithify.streams import Heartbeat
from lithify.streams.groups import EMBED, order_of

# A batch takes a second or two; half a minute means that more arrives than is done.
BEHIND_MS: Final = 30_000
# Five leases: nobody has taken it over either.
STUCK_MS: Final = 300_000


class StageState(StrEnum):
    """Says how a stage fares in a word, for colours alone tell some people nothing."""

    CLEAR = "clear"
    WORKING = "working"
    BEHIND = "behind"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class Stage:
    """Sums up a consumer group over all partitions."""

    group: str
    state: StageState
    oldest_unread_ms: int
    oldest_pending_ms: int
    unread: int
    pending: int


@dataclass(frozen=True, slots=True)
class SearchableDelay:
    """Says how long a turn takes from accepted to found, at the slowest embedding worker; None while none says."""

    p50_ms: int | None
    p95_ms: int | None


@dataclass(frozen=True, slots=True)
class WorkersAlive:
    """`ready` are those that read; `last_beat_ms` is how long ago the most silent of them was heard."""

    last_beat_ms: int | None
    alive: int
    ready: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The whole pipeline at one moment, as `/v1/overview` answers it."""

    at: int
    stages: tuple[Stage, ...]
    accept_to_searchable: SearchableDelay
    throughput: Throughput
    dead_letters: DeadLetterState
    workers: WorkersAlive
    queues: tuple[QueueState, ...]


def overview_of(reading: Reading) -> Overview:
    figures = reading.figures
    beats = [max(0, figures.at - worker.beat_at) for worker in figures.workers]
    return Overview(
        at=figures.at,
        stages=stages_of(figures.streams),
        accept_to_searchable=delay_of(figures.workers),
        throughput=reading.throughput,
        dead_letters=figures.dead,
        workers=WorkersAlive(max(beats, default=None), len(beats), sum(worker.ready for worker in figures.workers)),
        queues=figures.queues,
    )


def stages_of(streams: Iterable[StreamState]) -> tuple[Stage, ...]:
    by_group: defaultdict[str, list[GroupState]] = defaultdict(list)
    for stream in streams:
        for group in stream.groups:
            by_group[group.group].append(group)
    return tuple(_stage(name, by_group[name]) for name in sorted(by_group, key=order_of))


def state_of(waiting: int, oldest_ms: int) -> StageState:
    if not waiting:
        return StageState.CLEAR
    if oldest_ms >= STUCK_MS:
        return StageState.STUCK
    return StageState.BEHIND if oldest_ms >= BEHIND_MS else StageState.WORKING


def state_of_group(group: GroupState) -> StageState:
    return state_of(group.unread + group.pending, max(group.oldest_unread_ms, group.oldest_pending_ms))


def delay_of(workers: Iterable[Heartbeat]) -> SearchableDelay:
    outcomes = [worker.outcomes for worker in workers if worker.kind == EMBED]
    p50 = [outcome["lateness_p50_ms"] for outcome in outcomes if "lateness_p50_ms" in outcome]
    p95 = [outcome["lateness_p95_ms"] for outcome in outcomes if "lateness_p95_ms" in outcome]
    return SearchableDelay(max(p50, default=None), max(p95, default=None))


def _stage(name: str, groups: list[GroupState]) -> Stage:
    unread = sum(group.unread for group in groups)
    pending = sum(group.pending for group in groups)
    oldest_unread = max(group.oldest_unread_ms for group in groups)
    oldest_pending = max(group.oldest_pending_ms for group in groups)
    state = state_of(unread + pending, max(oldest_unread, oldest_pending))
    return Stage(
        group=name,
        state=state,
        oldest_unread_ms=oldest_unread,
        oldest_pending_ms=oldest_pending,
        unread=unread,
        pending=pending,
    )
