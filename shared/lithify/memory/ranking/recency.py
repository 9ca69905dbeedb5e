"""How a memory fades: exponential decay over its age in seconds (spec 02 §1)."""

import numpy as np
import numpy.typing as npt

from lithify.memory.columns import FloatArray, Numbers, finite

MS_PER_SECOND = 1000.0
MAX_AGE_MS = 1e15  # some 30,000 years; keeps absurd times finite, so that a rate of 0 times the age stays 0


def age_seconds(ts_ms: Numbers, now_ms: float) -> FloatArray:
    """Unknown and future times have age 0. Times are milliseconds, ages are seconds."""
    with np.errstate(over="ignore"):
        return np.clip(now_ms - finite(ts_ms, absent=now_ms), 0.0, MAX_AGE_MS) / MS_PER_SECOND


def recency(age_s: npt.ArrayLike, rate: npt.ArrayLike) -> FloatArray:
    """R = exp(−λ·age), in [0, 1]. A negative rate λ counts as 0."""
    with np.errstate(over="ignore"):
        return np.exp(-np.multiply(np.maximum(rate, 0.0), age_s))
