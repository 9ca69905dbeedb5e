"""The vectors of a text: prefix tiers divided by a regularised norm (spec 03 §1), and windows of long texts (§7)."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from lithify.errors import Invalid, Misconfigured
from lithify.memory.bounds import FloatArray

TIER_NAMES: Final = ("l1", "l2", "l3")
FULL_TIER: Final = TIER_NAMES[-1]  # the source of truth; the others are caches of its prefixes
MISSING_TIERS: Final = "missing_tiers"  # the payload field that names the tiers still to be made

EPSILON = 1e-8  # pulls prefixes of this size or below towards zero instead of blowing up their noise

_LARGEST = float(np.finfo(np.float32).max)  # squares of larger components could overflow
WINDOW = 512
OVERLAP = 256  # the sources call it a stride, but it is what two neighbours share (X20)


def regularise(vectors: npt.ArrayLike) -> FloatArray:
    """Divides by sqrt(‖v‖² + ε²) in float64; a zero vector stays zero.

    The result is to be compared by dot product: cosine distance would undo the guard (X13).
    """
    v = np.asarray(vectors, dtype=np.float64)
    squares = np.einsum("...i,...i->...", v, v)
    scaled: FloatArray = v / np.sqrt(squares + EPSILON**2)[..., np.newaxis]
    return scaled


def tier_vector(vectors: npt.ArrayLike, dims: int) -> FloatArray:
    """Returns the first `dims` components, regularised, of one vector (d,) or of a batch (n, d)."""
    return regularise(_embeddings(vectors, dims)[..., :dims])


def tier_vectors(vectors: npt.ArrayLike, dims: Sequence[int]) -> tuple[FloatArray, ...]:
    """Returns all tiers of one vector (d,) or of a batch (n, d); there are no partial tiers of a short vector."""
    checked = _embeddings(vectors, max(dims))
    return tuple(regularise(checked[..., :d]) for d in dims)


def _embeddings(vectors: npt.ArrayLike, needed: int) -> FloatArray:
    v = np.asarray(vectors, dtype=np.float64)
    if v.ndim == 0 or v.shape[-1] < needed:
        raise Invalid(f"an embedding of {v.shape[-1] if v.ndim else 0} components cannot fill a tier of {needed}")
    if not np.all(np.abs(v) <= _LARGEST):
        raise Invalid("an embedding has a component that is not a finite float32 number")
    return v


def window_spans(n_tokens: int, size: int = WINDOW, overlap: int = OVERLAP) -> list[tuple[int, int]]:
    """Returns half-open spans that cover all tokens; the first one that reaches the end is the last."""
    if not 0 <= overlap < size:
        raise Misconfigured(f"a window of {size} tokens cannot overlap by {overlap}; choose 0 <= overlap < size")
    step = size - overlap
    count = 1 + max(0, -(-(n_tokens - size) // step))
    return [(i * step, min(i * step + size, n_tokens)) for i in range(count)] if n_tokens > 0 else []


def mean_vector(windows: npt.ArrayLike) -> FloatArray:
    """Returns the mean of the windows' vectors (n, d), brought back to unit length, which the mean has lost (X20)."""
    return regularise(np.asarray(windows, dtype=np.float64).mean(axis=0))
