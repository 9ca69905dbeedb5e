"""Figures as a test wants them, with everything else at rest."""

from lithify.monitoring.figures import DeadLetterState, Figures, GroupState, StreamState
from lithify.streams import Heartbeat, keys
from lithify.streams.consumer import ConsumerTally


def group(name: str = "embed", unread: int = 0, pending: int = 0, oldest_ms: int = 0) -> GroupState:
    return GroupState(name, oldest_ms if unread else 0, oldest_ms if pending else 0, unread, pending, ())


def stream(*groups: GroupState, partition: int = 0, added: int | None = 0) -> StreamState:
    return StreamState(keys.turns(partition), added or 0, added, groups)


def heartbeat(name: str = "w-0", kind: str = "embed", ready: bool = True, **outcomes: int) -> Heartbeat:
    return Heartbeat(kind, name, "host", 1, 0, 900, 900, ready, None, 0, ConsumerTally(), outcomes)


def figures(*streams: StreamState, at: int = 1_000, workers: tuple[Heartbeat, ...] = (), dead: int = 0) -> Figures:
    return Figures(at, 0.0, streams, DeadLetterState(None, dead), workers, ())
