"""Operations on embedding matrices: means, unit length, and the rotation of a profile.

A rotation is orthogonal: it moves what matters to the front of a vector, and changes no cosine.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lithify.embedding.contract import Vectors
from lithify.errors import Misconfigured
from lithify.memory.vectors.tiers import mean_vector

# Half precision leaves RᵀR within 1e-3 of the identity; more means that the file is no rotation.
ROUGHLY_ORTHOGONAL = 1e-2
# Each step squares the distance to orthogonality: 1e-3, 1e-6, 1e-12.
POLISHING_STEPS = 2


def mean_over_tokens(hidden: npt.NDArray[np.floating], mask: npt.NDArray[np.int64]) -> Vectors:
    """Returns the mean of the token vectors (n, tokens, d) whose attention is 1."""
    weights = mask[:, :, np.newaxis].astype(np.float32)
    mean: Vectors = ((hidden * weights).sum(axis=1) / weights.sum(axis=1)).astype(np.float32)
    return mean


def unit_rows(vectors: npt.NDArray[np.floating]) -> Vectors:
    """Scales rows to length 1; a row of zeros stays zero."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: Vectors = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0).astype(np.float32)
    return unit


def window_means(vectors: Vectors, counts: Sequence[int]) -> Vectors:
    """Returns one row per text from the rows of its windows, which lie side by side."""
    stops = np.cumsum(counts)
    firsts = stops - counts
    means: Vectors = vectors[firsts]
    for text in np.flatnonzero(np.array(counts) > 1):
        means[text] = mean_vector(vectors[firsts[text] : stops[text]])
    return means


def fit_rotation(vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Returns the principal axes of the vectors as columns, the most telling first. Multiply from the right."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    descending = axes[:, ::-1]
    # An axis has no direction of its own; the sign is fixed so that every machine writes the same file.
    strongest = descending[np.abs(descending).argmax(axis=0), np.arange(descending.shape[1])]
    fitted: npt.NDArray[np.float64] = descending * np.sign(strongest)
    return fitted


def save_rotation(path: Path, rotation: npt.NDArray[np.floating]) -> None:
    """Writes a rotation in half precision, which `load_rotation` makes up for."""
    np.save(path, rotation.astype(np.float16))


def load_rotation(path: Path, dimensions: int) -> Vectors:
    """Reads a rotation and makes it exactly orthogonal again: full-length cosines are the model's to 1e-5 and better.

    Raises Misconfigured for a file of another shape, and for one that is no rotation.
    """
    try:
        stored = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise Misconfigured(f"the rotation {path} cannot be read: {error}") from error
    if stored.shape != (dimensions, dimensions):
        raise Misconfigured(f"the rotation {path} has shape {stored.shape}; the model has {dimensions} dimensions")
    rough = stored.astype(np.float64)
    if not _distance_to_orthogonal(rough) < ROUGHLY_ORTHOGONAL:
        raise Misconfigured(f"the rotation {path} is not orthogonal: it would change cosines")
    return make_orthogonal(rough).astype(np.float32)


def make_orthogonal(rotation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns the nearest orthogonal matrix, by Newton's method."""
    for _ in range(POLISHING_STEPS):
        rotation = rotation @ (3 * np.eye(len(rotation)) - rotation.T @ rotation) / 2
    return rotation


def _distance_to_orthogonal(rotation: npt.NDArray[np.float64]) -> float:
    return float(np.abs(rotation.T @ rotation - np.eye(len(rotation))).max())
