"""How each stage of the pipeline fares, in one word and with its oldest message first: pure functions over figures."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lithify.monitoring.figures import GroupState, StreamState
from lithify.streams import Heartbeat
from lithify.streams.groups import EMBED, order_of

# A batch takes a second or two; half a minute means that more arrives than is done.
BEHIND_MS: Final = 30_000
# Five leases: nobody has taken it over either.
STUCK_MS: Final = 300_000


class State(StrEnum):
    """Said in words on every page, for colours alone tell some people nothing."""

    CLEAR = "clear"
    WORKING = "working"
    BEHIND = "behind"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class Stage:
    """A consumer group over all partitions."""

    group: str
    state: State
    oldest_unread_ms: int
    oldest_pending_ms: int
    unread: int
    pending: int


@dataclass(frozen=True, slots=True)
class Lateness:
    """From accepting a turn to finding it, as the slowest embedding worker tells it; None while none does."""

    p50_ms: int | None
    p95_ms: int | None


def stages_of(streams: Iterable[StreamState]) -> tuple[Stage, ...]:
    by_group: defaultdict[str, list[GroupState]] = defaultdict(list)
    for stream in streams:
        for group in stream.groups:
            by_group[group.group].append(group)
    return tuple(_stage(name, by_group[name]) for name in sorted(by_group, key=order_of))


def state_of(waiting: int, oldest_ms: int) -> State:
    if not waiting:
        return State.CLEAR
    if oldest_ms >= STUCK_MS:
        return State.STUCK
    return State.BEHIND if oldest_ms >= BEHIND_MS else State.WORKING


def state_of_group(group: GroupState) -> State:
    return state_of(group.unread + group.pending, max(group.oldest_unread_ms, group.oldest_pending_ms))


def lateness_of(workers: Iterable[Heartbeat]) -> Lateness:
    told = [worker.outcomes for worker in workers if worker.kind == EMBED]
    p50 = [outcome["lateness_p50_ms"] for outcome in told if "lateness_p50_ms" in outcome]
    p95 = [outcome["lateness_p95_ms"] for outcome in told if "lateness_p95_ms" in outcome]
    return Lateness(max(p50, default=None), max(p95, default=None))


def _stage(name: str, groups: list[GroupState]) -> Stage:
    unread, pending = sum(group.unread for group in groups), sum(group.pending for group in groups)
    oldest_unread = max(group.oldest_unread_ms for group in groups)
    oldest_pending = max(group.oldest_pending_ms for group in groups)
    state = state_of(unread + pending, max(oldest_unread, oldest_pending))
    return Stage(name, state, oldest_unread, oldest_pending, unread, pending)
