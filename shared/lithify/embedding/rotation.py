"""An orthogonal rotation that moves what matters to the front of a vector, and changes no cosine."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from lithify.embedding.contract import Vectors
from lithify.errors import Misconfigured

# Half precision leaves RᵀR within 1e-3 of the identity; more means that the file is no rotation.
ROUGHLY_ORTHOGONAL = 1e-2
# Each step squares the distance to orthogonality: 1e-3, 1e-6, 1e-12.
POLISHING_STEPS = 2


def fit_rotation(vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Principal axes of the vectors as columns, the most telling first. Multiply from the right."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    descending = axes[:, ::-1]
    # An axis has no direction of its own; the sign is fixed so that every machine writes the same file.
    strongest = descending[np.abs(descending).argmax(axis=0), np.arange(descending.shape[1])]
    fitted: npt.NDArray[np.float64] = descending * np.sign(strongest)
    return fitted


def save_rotation(path: Path, rotation: npt.NDArray[np.floating]) -> None:
    np.save(path, rotation.astype(np.float16))


def load_rotation(path: Path, dimensions: int) -> Vectors:
    """Exactly orthogonal again, so that full-length cosines are those of the model to 1e-5 and better."""
    try:
        stored = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise Misconfigured(f"the rotation {path} cannot be read: {error}") from error
    if stored.shape != (dimensions, dimensions):
        raise Misconfigured(f"the rotation {path} has shape {stored.shape}; the model has {dimensions} dimensions")
    rough = stored.astype(np.float64)
    if not _distance(rough) < ROUGHLY_ORTHOGONAL:
        raise Misconfigured(f"the rotation {path} is not orthogonal: it would change cosines")
    return polished(rough).astype(np.float32)


def polished(rotation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The nearest orthogonal matrix, by Newton's method."""
    for _ in range(POLISHING_STEPS):
        rotation = rotation @ (3 * np.eye(len(rotation)) - rotation.T @ rotation) / 2
    return rotation


def _distance(rotation: npt.NDArray[np.float64]) -> float:
    return float(np.abs(rotation.T @ rotation - np.eye(len(rotation))).max())
