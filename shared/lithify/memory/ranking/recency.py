"""How memories (spec 02 §1) and dated documents (spec 10 §7) fade: exponential decay over their age."""

import re
from datetime import date

import numpy as np
import numpy.typing as npt

from lithify.memory.bounds import FloatArray, Numbers, finite

MS_PER_SECOND = 1000.0
MAX_AGE_MS = 1e15  # some 30,000 years; keeps absurd times finite, so that a rate of 0 times the age stays 0
HALF_LIFE_DAYS = 30.0

_ISO_DATE = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")


def age_seconds(ts_ms: Numbers, now_ms: float) -> FloatArray:
    """Returns ages in seconds of times in milliseconds. Unknown and future times have age 0."""
    with np.errstate(over="ignore"):
        return np.clip(now_ms - finite(ts_ms, absent=now_ms), 0.0, MAX_AGE_MS) / MS_PER_SECOND


def recency(age_s: npt.ArrayLike, rate: npt.ArrayLike) -> FloatArray:
    """Returns R = exp(−λ·age), in [0, 1]. A negative rate λ counts as 0."""
    with np.errstate(over="ignore"):
        return np.exp(-np.multiply(np.maximum(rate, 0.0), age_s))


def date_in_path(path: str) -> date | None:
    """Returns the last real calendar date in the path: a dated file may lie in a dated folder. None is evergreen."""
    for text in reversed(_ISO_DATE.findall(path)):
        try:
            return date.fromisoformat(text)
        except ValueError:
            continue
    return None


def decay_factor(dated: date | None, today: date, half_life_days: float = HALF_LIFE_DAYS) -> float:
    """Returns a factor in [0, 1]; it is 1 for undated and for future documents."""
    if not half_life_days > 0.0:
        raise ValueError(f"the half-life must be a positive number of days, got {half_life_days}")
    if dated is None or dated >= today:
        return 1.0
    return float(2.0 ** -((today - dated).days / half_life_days))
