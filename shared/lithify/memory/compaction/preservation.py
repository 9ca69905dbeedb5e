"""Measures how faithfully a summary sits where its turns sit in the retrieval space (spec 05 §7).

The fields are named after the canonical embedder's role, not after a model (X21).
"""

import math
from dataclasses import dataclass

import numpy as np

from lithify.memory.bounds import clamp, clamp01
from lithify.memory.compaction.cluster_geometry import Matrix, Vector, Vectors, as_matrix, cosines
from lithify.memory.compaction.clustering import likeness
from lithify.memory.compaction.limits import SEED_COMPACTION
from lithify.memory.vectors.background import USUAL, to_usual

EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class Preservation:
    align: float
    cover: float
    conf_embed: float


def preservation(align: float, cover: float) -> Preservation:
    return Preservation(align, cover, clamp01((align + cover) / 2))


def measure(summary: Vectors, turns: Vectors, background: float = USUAL) -> Preservation:
    """Compares a summary with its turns; `summary` is a single row from the same embedder as `turns`.

    Both measures are what they would be if the model kept unrelated texts at the usual level.
    """
    rows = as_matrix(turns)
    axis = as_matrix(summary)[0]
    near = cosines(rows, axis)
    cover = float(np.maximum(to_usual(near, background), 0.0).mean())
    return preservation(_align(rows, axis, background), cover)


def _align(rows: Matrix, axis: Vector, background: float) -> float:
    """Returns the cosine of the summary with the centroid of the turns.

    That of a centroid with n members is their mean product with the axis over its own length, and both follow from
    cosines of two texts, which are the ones that have a level.
    """
    alike = to_usual(likeness(rows), background)
    length = math.sqrt(max((1.0 + (len(rows) - 1) * alike) / len(rows), 0.0))
    mean = float(to_usual(cosines(rows, axis), background).mean())
    return clamp(mean / length, -1.0, 1.0) if length > 0.0 else 0.0


def preserves(method: str, measured: Preservation | None, least: float = SEED_COMPACTION.preserve_align) -> bool:
    """Gates every method that writes text of its own (X28); unmeasured text never passes."""
    if method == EXTRACTIVE:
        return True
    return measured is not None and measured.align >= least


def final_confidence(
    method: str, conf_embed: float, conf_decoder: float | None = None, share: float = SEED_COMPACTION.embed_share
) -> float:
    if method == EXTRACTIVE:
        return clamp01(conf_embed)
    return share * clamp01(conf_embed) + (1 - share) * clamp01(conf_decoder)


def decay_rate(confidence: float) -> float:
    return 1.0 - clamp01(confidence)
