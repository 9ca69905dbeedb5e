"""Decides which clusters deserve an abstractive summary (spec 05 §4)."""

import math
from collections.abc import Iterable

from lithify.memory.bounds import clamp01, is_number

ABSTRACTIVE_GATING = 0.60


def mean_gating(scores: Iterable[float | None]) -> float | None:
    """Over the turns that have a score; assistant turns have none and must not pull the mean down (X08)."""
    known = [score for score in scores if score is not None and is_number(score)]
    return clamp01(math.fsum(known) / len(known)) if known else None


def wants_abstractive(scores: Iterable[float | None]) -> bool:
    mean = mean_gating(scores)
    return mean is not None and mean >= ABSTRACTIVE_GATING
