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


def distinct_turns(ranked: Iterable[RankedT]) -> list[RankedT]:
    """The best copy of each source turn; `ranked` must be best first (spec 08 §2)."""
    best: dict[tuple[bool, str], RankedT] = {}
    for item in ranked:
        turn, record = item.candidate.source_turn, item.candidate.id
        # A turn's id and a record's id are names of different things and may be alike.
        best.setdefault((True, turn) if turn else (False, record), item)
    return list(best.values())
