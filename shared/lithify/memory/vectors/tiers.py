"""Matryoshka tiers: prefixes of one embedding, each divided by a regularised norm (spec 03 §1)."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from lithify.errors import Invalid
from lithify.memory.columns import FloatArray

TIER_NAMES: Final = ("l1", "l2", "l3")
FULL_TIER: Final = TIER_NAMES[-1]  # the source of truth; the others are caches of its prefixes
MISSING_TIERS: Final = "missing_tiers"  # the payload field that names the tiers still to be made

EPSILON = 1e-8  # pulls prefixes of this size or below towards zero instead of blowing up their noise

_LARGEST = float(np.finfo(np.float32).max)  # squares of larger components could overflow


def regularised(vectors: npt.ArrayLike) -> FloatArray:
    """Divides by sqrt(‖v‖² + ε²) in float64; a zero vector stays zero.

    The result is to be compared by dot product: cosine distance would undo the guard (X13).
    """
    v = np.asarray(vectors, dtype=np.float64)
    squares = np.einsum("...i,...i->...", v, v)
    scaled: FloatArray = v / np.sqrt(squares + EPSILON**2)[..., np.newaxis]
    return scaled


def tier_vector(vectors: npt.ArrayLike, dims: int) -> FloatArray:
    """The first `dims` components, regularised, of one vector (d,) or of a batch (n, d)."""
    return regularised(_embeddings(vectors, dims)[..., :dims])


def tier_vectors(vectors: npt.ArrayLike, dims: Sequence[int]) -> tuple[FloatArray, ...]:
    """All tiers of one vector (d,) or of a batch (n, d); there are no partial tiers of a short vector."""
    checked = _embeddings(vectors, max(dims))
    return tuple(regularised(checked[..., :d]) for d in dims)


def _embeddings(vectors: npt.ArrayLike, needed: int) -> FloatArray:
    v = np.asarray(vectors, dtype=np.float64)
    if v.ndim == 0 or v.shape[-1] < needed:
        raise Invalid(f"an embedding of {v.shape[-1] if v.ndim else 0} components cannot fill a tier of {needed}")
    if not np.all(np.abs(v) <= _LARGEST):
        raise Invalid("an embedding has a component that is not a finite float32 number")
    return v
