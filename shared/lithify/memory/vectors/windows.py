"""Cuts long texts into overlapping windows and makes one vector of theirs (spec 03 §7)."""

import numpy as np
import numpy.typing as npt

from lithify.errors import Misconfigured
from lithify.memory.columns import FloatArray
from lithify.memory.vectors.tiers import regularised

WINDOW = 512
OVERLAP = 256  # the sources call it a stride, but it is what two neighbours share (X20)


def window_spans(n_tokens: int, size: int = WINDOW, overlap: int = OVERLAP) -> list[tuple[int, int]]:
    """Half-open spans that cover all tokens; the first one that reaches the end is the last."""
    if not 0 <= overlap < size:
        raise Misconfigured(f"a window of {size} tokens cannot overlap by {overlap}; choose 0 <= overlap < size")
    step = size - overlap
    count = 1 + max(0, -(-(n_tokens - size) // step))
    return [(i * step, min(i * step + size, n_tokens)) for i in range(count)] if n_tokens > 0 else []


def mean_vector(windows: npt.ArrayLike) -> FloatArray:
    """The mean of the windows' vectors (n, d), brought back to unit length, which the mean has lost (X20)."""
    return regularised(np.asarray(windows, dtype=np.float64).mean(axis=0))
