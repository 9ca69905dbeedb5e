"""Computes centroids and cosines of a cluster's vectors that are never NaN, whatever an embedder returns."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Vectors = Sequence[Sequence[float]] | NDArray[np.floating]


def as_matrix(vectors: Vectors) -> Matrix:
    """Returns rows of finite numbers, scaled together so that no later sum or square can overflow.

    One common factor changes neither the direction of the centroid nor any cosine.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"expected one vector per text, got an array of shape {rows.shape}")
    rows = np.where(np.isfinite(rows), rows, 0.0)
    peak = np.abs(rows).max()
    return rows / peak if peak > 0 else rows


def centroid(rows: Matrix) -> Vector:
    mean: Vector = rows.mean(axis=0)
    return mean


def cosines(rows: Matrix, axis: Vector) -> Vector:
    """Returns the cosine of every row with `axis`; 0 where either has no length."""
    similarities: Vector = unit_rows(rows) @ unit_rows(axis[np.newaxis, :])[0]
    return np.clip(similarities, -1.0, 1.0)


def unit_rows(rows: Matrix) -> Matrix:
    """Scales every row to length 1; one without length stays as it is."""
    # Dividing by the largest entry first keeps very short rows from losing their length to underflow.
    peaks = np.abs(rows).max(axis=1, keepdims=True)
    scaled = np.divide(rows, peaks, out=np.zeros_like(rows), where=peaks > 0)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    units: Matrix = np.divide(scaled, norms, out=scaled, where=norms > 0)
    return units
