"""Small operations on embedding matrices."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lithify.embedding.contract import Vectors
from lithify.memory.vectors.windows import mean_vector


def mean_over_tokens(hidden: npt.NDArray[np.floating], mask: npt.NDArray[np.int64]) -> Vectors:
    """Mean of the token vectors (n, tokens, d) whose attention is 1."""
    weights = mask[:, :, np.newaxis].astype(np.float32)
    mean: Vectors = ((hidden * weights).sum(axis=1) / weights.sum(axis=1)).astype(np.float32)
    return mean


def unit_rows(vectors: npt.NDArray[np.floating]) -> Vectors:
    """Rows of length 1; a row of zeros stays zero."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: Vectors = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0).astype(np.float32)
    return unit


def window_means(vectors: Vectors, counts: Sequence[int]) -> Vectors:
    """One row per text from the rows of its windows, which lie side by side."""
    stops = np.cumsum(counts)
    firsts = stops - counts
    means: Vectors = vectors[firsts]
    for text in np.flatnonzero(np.array(counts) > 1):
        means[text] = mean_vector(vectors[firsts[text] : stops[text]])
    return means
