"""Keeps numbers, one or many, inside their domains: no formula may produce NaN, a negative score or a zero division."""

import math
import sys
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

CONVEX_TOLERANCE = 1e-12  # far above what dividing by a sum can miss it by

FloatArray = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
Numbers = npt.ArrayLike | Sequence[float | None]  # None is absent, like NaN


class Within(NamedTuple):
    """The values a parameter may have, as a mark on its type; what is read from a file is held to it."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False  # whether `low` itself is left out

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high and not (self.above and value == self.low)


Share = Annotated[float, Within(0.0, 1.0)]
Cosine = Annotated[float, Within(-1.0, 1.0)]
NotNegative = Annotated[float, Within(0.0)]
Positive = Annotated[float, Within(0.0, above=True)]
# A limit that no answer ever reaches, and that keeps a slip of the keyboard from filling the memory of a machine.
Size = Annotated[int, Within(1, 10_000)]
Count = Annotated[int, Within(0, 10_000)]


def is_number(value: object) -> bool:
    """Returns whether it is a finite int or float; bool, NaN, infinities, None and text are not numbers here."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max  # an int may be larger than any float


def number_or(value: object, default: float) -> float:
    if type(value) is float or type(value) is int:  # nearly always, and hundreds of times per answer
        return float(value) if abs(value) <= sys.float_info.max else default
    return float(value) if isinstance(value, int | float) and is_number(value) else default


def clamp(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def clamp01(value: object) -> float:
    """Clamps to [0, 1]; non-numbers count as 0 (spec 02 §5)."""
    return clamp(number_or(value, 0.0), 0.0, 1.0)


def convex(weights: Sequence[float], defaults: Sequence[float]) -> tuple[float, ...]:
    """Returns weights that are each in [0, 1] and sum to 1 (spec 02 §1).

    A non-finite weight becomes its default, each is clamped, then all are divided by their sum.
    A sum of 0 falls back to the defaults, which must be convex themselves. Weights that sum to 1 already stay as they
    are to the last bit, so that a profile that was written and read again is the same one.
    """
    clamped = [clamp01(number_or(w, d)) for w, d in zip(weights, defaults, strict=True)]
    total = math.fsum(clamped)
    if total <= 0.0:
        return tuple(defaults)
    if abs(total - 1.0) <= CONVEX_TOLERANCE:
        return tuple(clamped)
    return tuple(w / total for w in clamped)


def finite(values: Numbers, absent: npt.ArrayLike = 0.0) -> FloatArray:
    """Replaces NaN and infinities, which count as absent metadata (spec 02 §5)."""
    array = np.asarray(values, dtype=np.float64)
    return np.where(np.isfinite(array), array, absent)


def unit(values: npt.ArrayLike) -> FloatArray:
    """Clamps to [0, 1]; what is not finite counts as 0."""
    return np.clip(finite(values), 0.0, 1.0)
