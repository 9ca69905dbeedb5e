"""Decides when recall falls back to raw turns, what it may spend and how they rank (spec 09 §8)."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

from lithify.memory.bounds import clamp01
from lithify.memory.temporal.projection import Pick, TemporalCandidate, marginal_coverage, pick_greedily

Item = TypeVar("Item")

_WEAK_SCORE = 0.15
_LOW_CONFIDENCE = 0.5
_SUMMARY_WINDOW = 4
_FULL_VECTOR_TIER = 3

_RESERVE_FLOOR = 16
_RESERVE_CEILING = 128

_PHRASE_BONUS = 0.01
_PHRASE_BONUS_CAP = 0.04
_PHRASE_SIZES = (2, 3, 4)
_ACTIVE_BONUS = 0.05
_COVERAGE_BONUS = 0.25
_GUARDED_PICKS = 3
_GUARDED_STOP = 0.12
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class RankedMemory:
    score: float
    cascade_tier: int  # the search trace sets it; upstream never did, which left S1 dead (X59)
    is_summary: bool = False
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class RecoveryTrigger:
    deep_search: bool  # S1: some candidate had to come from the last tier
    weak_best: bool  # S2
    doubtful_summaries: bool  # S3

    @property
    def fires(self) -> bool:
        return (self.deep_search and self.weak_best) or self.doubtful_summaries


def recovery_trigger(ranking: Sequence[RankedMemory]) -> RecoveryTrigger:
    """Returns the signs that recall was poor; ``ranking`` is best first, and an empty one never fires."""
    if not ranking:
        return RecoveryTrigger(False, False, False)
    return RecoveryTrigger(
        deep_search=any(memory.cascade_tier == _FULL_VECTOR_TIER for memory in ranking),
        weak_best=max(clamp01(memory.score) for memory in ranking) < _WEAK_SCORE,
        doubtful_summaries=_are_doubtful_summaries(ranking[:_SUMMARY_WINDOW]),
    )


def is_fresh_session(raw_turns: int, session_hits: int) -> bool:
    return raw_turns == 0 and session_hits == 0


def recovery_reserve(budget: int, triggered: bool, comparison: bool = False) -> int:
    """Takes tokens from the projection: a tenth of the budget within [16, 128], never more than there is.

    A comparison needs a witness for each side and gets 1.8 times as much.
    """
    if not triggered or budget <= 0:
        return 0
    reserve = min(budget, max(budget // 10, _RESERVE_FLOOR), _RESERVE_CEILING)
    # 9/5 in integers: 1.8 as a float can push an exact product over the next integer.
    return min(budget, -(-reserve * 9 // 5)) if comparison else reserve


def pack_first_fit(items: Iterable[Item], budget: float, cost: Callable[[Item], float]) -> list[Item]:
    """Takes everything that still fits, in order; only this overlay may skip items (spec 02 §4, 09 §8)."""
    taken: list[Item] = []
    left = budget
    for item in items:
        price = cost(item)
        if price <= left:
            taken.append(item)
            left -= price
    return taken


def raw_turn_score(sim: float, keyword_coverage: float, recency: float, matched_phrases: int) -> float:
    bonus = min(_PHRASE_BONUS_CAP, _PHRASE_BONUS * max(matched_phrases, 0))
    mixed = 0.20 * clamp01(sim) + 0.70 * clamp01(keyword_coverage) + 0.10 * clamp01(recency)
    return clamp01(mixed + bonus)


def guarded_turn_score(sim: float, recency: float, anchors: float, slot_coverage: float, active: bool) -> float:
    mixed = 0.40 * clamp01(sim) + 0.25 * clamp01(recency) + 0.20 * clamp01(anchors)
    return clamp01(mixed + 0.15 * clamp01(slot_coverage) + (_ACTIVE_BONUS if active else 0.0))


def order_guarded_turns(turns: Sequence[TemporalCandidate], slot_count: int) -> tuple[str, ...]:
    """Returns keys of raw turns: up to three that widen the coverage, then the rest by their guarded score."""

    def appraise(turn: TemporalCandidate, seen: AbstractSet[int]) -> Pick:
        gain = marginal_coverage(turn.covered, seen, slot_count)
        return Pick(turn.key, clamp01(turn.score) + _COVERAGE_BONUS * gain, gain)

    picked = [pick.key for pick in pick_greedily(turns, appraise, _GUARDED_PICKS, _GUARDED_STOP)]
    rest = sorted((t for t in turns if t.key not in picked), key=lambda t: (-clamp01(t.score), t.key))
    return (*picked, *(turn.key for turn in rest))


def count_matched_phrases(query: str, text: str) -> int:
    """Counts distinct runs of two to four query words that the text repeats in the same order."""
    return len(_phrases(query) & _phrases(text))


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return frozenset(tuple(words[i : i + n]) for n in _PHRASE_SIZES for i in range(len(words) - n + 1))


def _are_doubtful_summaries(window: Sequence[RankedMemory]) -> bool:
    if len(window) < _SUMMARY_WINDOW or not all(memory.is_summary for memory in window):
        return False
    mean = math.fsum(clamp01(memory.confidence) for memory in window) / _SUMMARY_WINDOW
    return mean < _LOW_CONFIDENCE
