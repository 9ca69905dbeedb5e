"""Keeps one copy of every memory, and trades relevance against repetition for a varied list (spec 10 §8)."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from lithify.memory.bounds import FloatArray, Positions, clamp01, number_or
from lithify.memory.ranking.candidate import Candidate, Kind

RELEVANCE_SHARE = 0.7  # λ
# Four times the longest usual list (spec 10 §9), and more of a text than a person compares.
MOST_VARIED = 400
COMPARED_CHARS = 8_192

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
    """Picks by maximal marginal relevance; ties keep the input order, ``stop`` ends the picking below that value.

    Only the first `MOST_VARIED` passages compete, by the words of their first `COMPARED_CHARS` characters, so that no
    list takes seconds.
    """
    pool = passages[:MOST_VARIED]
    weight = clamp01(share)
    relevance = np.array([weight * clamp01(passage.relevance) for passage in pool])
    words = [frozenset(_WORD.findall(passage.text[:COMPARED_CHARS].lower())) for passage in pool]
    postings = _shared_words(words)
    sizes = np.array([len(some) for some in words])
    likeness = np.zeros(len(pool))
    is_left = np.ones(len(pool), dtype=np.bool_)
    picks: list[VariedPick] = []
    while len(picks) < min(limit, len(pool)):
        values = np.where(is_left, relevance - (1.0 - weight) * likeness, -np.inf)
        best = int(values.argmax())
        if stop is not None and values[best] < stop:
            break
        picks.append(VariedPick(pool[best].key, float(values[best])))
        is_left[best] = False
        likeness = np.maximum(likeness, _jaccard_to(best, words, postings, sizes))
    return tuple(picks)


def _shared_words(words: Sequence[frozenset[str]]) -> dict[str, Positions]:
    """Returns for each word that stands in two texts or more in which it stands."""
    places: dict[str, list[int]] = defaultdict(list)
    for position, text in enumerate(words):
        for word in text:
            places[word].append(position)
    return {word: np.array(found, dtype=np.intp) for word, found in places.items() if len(found) > 1}


def _jaccard_to(
    one: int, words: Sequence[frozenset[str]], postings: Mapping[str, Positions], sizes: npt.NDArray[np.int_]
) -> FloatArray:
    """Returns the share of words that each text has in common with one of them; empty texts share nothing."""
    found = [postings[word] for word in words[one] if word in postings]
    common = np.bincount(np.concatenate(found), minlength=len(words)) if found else np.zeros(len(words))
    shares: FloatArray = common / np.maximum(sizes + sizes[one] - common, 1)
    return shares
