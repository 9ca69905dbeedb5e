"""What is really there after the storm, as values the verdict can be given on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lithify.streams.progress import StreamId
from tests.chaos.forgetting import Erasure
from tests.chaos.ledger import Facts, Mark, Name

Fields: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record of the store. A piece of a long turn has its event's name, and a part of its text."""

    id: str
    kind: str
    name: Name  # a summary has none of its own: the event id is empty
    facts: Facts
    marks: frozenset[Mark] = frozenset()
    seq: int | None = None
    vector_fits: bool = True
    piece: int | None = None  # its number, of a piece
    pieces: tuple[str, ...] = ()  # of a long turn, the hashes of the pieces it is to have
    active: bool = True
    compacted_into: str | None = None
    source_ids: tuple[str, ...] = ()  # of a summary, the events it covers
    mentions: tuple[str, ...] = ()  # of a durable memory, the events that say the same


@dataclass(frozen=True, slots=True)
class Kept:
    """An event as it lies in the archive, a tail, a stream or a dead letter."""

    where: str
    name: Name
    facts: Facts
    marks: frozenset[Mark]
    seq: int | None
    stream_id: StreamId | None = None  # where the place keeps the one of its acceptance


@dataclass(frozen=True, slots=True)
class Observation:
    records: list[StoredRecord]
    receipts: dict[Name, Fields]
    archived: list[Kept] | None  # None where nothing is archived
    damage: list[str]
    tails: list[Kept]
    streamed: list[Kept]
    letters: Sequence[Fields]
    lettered: list[Kept]
    erasures: list[Erasure]
    entries: int
    trimmed: int
    unread: int
    pending: int
    jobs: int
    given_up: list[str]
    immortal_keys: list[str]
    is_gated: bool = True
