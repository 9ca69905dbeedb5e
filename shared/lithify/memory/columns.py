"""Numbers of many candidates as clean arrays: the one place where NaN and infinities stop."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Numbers = npt.ArrayLike | Sequence[float | None]  # None is absent, like NaN


def finite(values: Numbers, absent: npt.ArrayLike = 0.0) -> FloatArray:
    """NaN and infinities count as absent metadata (spec 02 §5)."""
    array = np.asarray(values, dtype=np.float64)
    return np.where(np.isfinite(array), array, absent)


def unit(values: npt.ArrayLike) -> FloatArray:
    """Clamped to [0, 1]; what is not finite counts as 0."""
    return np.clip(finite(values), 0.0, 1.0)
