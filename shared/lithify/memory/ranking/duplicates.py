"""Keeps one copy of every memory, and trades relevance against repetition for a varied list (spec 10 §8)."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from lithify.memory.bounds import clamp01, number_or
from lithify.memory.ranking.candidate import Candidate, Kind

RELEVANCE_SHARE = 0.7  # λ

_WORD = re.compile(r"\w+")


class Ranked(Protocol):
    @property
    def candidate(self) -> Candidate: ...


RankedT = TypeVar("RankedT", bound=Ranked)


def drop_shown(
    candidates: Iterable[Candidate], shown_ids: Collection[str], shown_turns: Collection[str]
) -> list[Candidate]:
    """Leaves out the tail and the host's own messages.

    By source turn too: the durable copy of a turn in the tail has another id (X42).
    """
    return [c for c in candidates if c.id not in shown_ids and c.source_turn not in shown_turns]


def distinct_turns(ranked: Iterable[RankedT]) -> list[RankedT]:
    """Returns the best copy of each source turn; `ranked` must be best first (spec 08 §2)."""
    best: dict[tuple[bool, str], RankedT] = {}
    for item in ranked:
        turn, record = item.candidate.source_turn, item.candidate.id
        # A turn's id and a record's id are names of different things and may be alike.
        best.setdefault((True, turn) if turn else (False, record), item)
    return list(best.values())


def lend_signals(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Judges a durable memory as its turn is judged: with the conversation around it, which the copy itself lacks."""
    listed = list(candidates)
    turns = {c.source_turn: c.signals for c in listed if c.source_turn and c.kind is Kind.TURN}
    return [
        replace(c, signals=turns[c.source_turn]) if c.kind is Kind.MEMORY and c.source_turn in turns else c
        for c in listed
    ]


def drop_stand_ins(candidates: Iterable[Candidate], covered: Mapping[str, Collection[str]]) -> list[Candidate]:
    """Leaves out summaries of what is found itself; `covered` has the source turns of each summary by its id."""
    listed = list(candidates)
    found = {candidate.source_turn for candidate in listed if candidate.kind is Kind.TURN}
    return [c for c in listed if c.kind is not Kind.SUMMARY or found.isdisjoint(covered.get(c.id, ()))]


@dataclass(frozen=True, slots=True)
class Passage:
    key: str
    text: str
    relevance: float  # in [0, 1]


@dataclass(frozen=True, slots=True)
class VariedPick:
    key: str
    value: float


def relative_relevance(scores: Sequence[float]) -> tuple[float, ...]:
    """Divides fused and decayed scores by their maximum, so that keyword-only hits take part (X62)."""
    clean = [max(number_or(score, 0.0), 0.0) for score in scores]
    best = max(clean, default=0.0)
    return tuple(score / best if best > 0.0 else 0.0 for score in clean)


def diversify(
    passages: Sequence[Passage], limit: int, share: float = RELEVANCE_SHARE, stop: float | None = None
) -> tuple[VariedPick, ...]:
    """Picks by maximal marginal relevance; ties keep the input order, ``stop`` ends the picking below that value."""
    weight = clamp01(share)
    words = [frozenset(_WORD.findall(passage.text.lower())) for passage in passages]
    likeness = [0.0] * len(passages)
    left = list(range(len(passages)))
    picks: list[VariedPick] = []
    while left and len(picks) < limit:
        values = {i: weight * clamp01(passages[i].relevance) - (1.0 - weight) * likeness[i] for i in left}
        best = max(left, key=values.__getitem__)
        if stop is not None and values[best] < stop:
            break
        picks.append(VariedPick(passages[best].key, values[best]))
        left.remove(best)
        for i in left:
            likeness[i] = max(likeness[i], jaccard(words[i], words[best]))
    return tuple(picks)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Returns the share of common words; two empty texts share nothing."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0
