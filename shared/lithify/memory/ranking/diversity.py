"""Trades relevance against repetition when a result list should be varied (spec 10 §8)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lithify.memory.bounds import clamp01, number_or

RELEVANCE_SHARE = 0.7  # λ

_WORD = re.compile(r"\w+")


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
    """Fused and decayed scores divided by their maximum, so that keyword-only hits take part (X62)."""
    clean = [max(number_or(score, 0.0), 0.0) for score in scores]
    best = max(clean, default=0.0)
    return tuple(score / best if best > 0.0 else 0.0 for score in clean)


def diversify(
    passages: Sequence[Passage], limit: int, share: float = RELEVANCE_SHARE, stop: float | None = None
) -> tuple[VariedPick, ...]:
    """Maximal marginal relevance; ties keep the input order, ``stop`` ends the picking below that value."""
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
    """Two empty texts share nothing."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0
