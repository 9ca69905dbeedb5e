"""Keeps one copy of every memory: by record, by the turn it came from, and against what is shown anyway."""

from collections.abc import Collection, Iterable
from typing import Protocol, TypeVar

from lithify.memory.ranking.candidate import Candidate


class Ranked(Protocol):
    @property
    def candidate(self) -> Candidate: ...


RankedT = TypeVar("RankedT", bound=Ranked)


def without_shown(
    candidates: Iterable[Candidate], shown_ids: Collection[str], shown_turns: Collection[str]
) -> list[Candidate]:
    """Leaves out the tail and the host's own messages.

    By source turn too: the durable copy of a turn in the tail has another id (X42).
    """
    return [c for c in candidates if c.id not in shown_ids and c.source_turn not in shown_turns]


def distinct_records(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The first of each (collection, id)."""
    first: dict[tuple[str, str], Candidate] = {}
    for candidate in candidates:
        first.setdefault((candidate.collection, candidate.id), candidate)
    return list(first.values())


def distinct_turns(ranked: Iterable[RankedT]) -> list[RankedT]:
    """The best copy of each source turn; `ranked` must be best first (spec 08 §2)."""
    best: dict[tuple[str, ...], RankedT] = {}
    for item in ranked:
        candidate = item.candidate
        turn = (candidate.source_turn,) if candidate.source_turn else (candidate.collection, candidate.id)
        best.setdefault(turn, item)
    return list(best.values())
