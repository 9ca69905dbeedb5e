"""Measures how faithfully a summary sits where its turns sit in the retrieval space (spec 05 §7).

The fields are named after the canonical embedder's role, not after a model (X21).
"""

from dataclasses import dataclass

import numpy as np

from lithify.memory.bounds import clamp01
from lithify.memory.compaction.cluster_geometry import Vectors, as_matrix, centroid, cosines
from lithify.memory.compaction.limits import SEED_COMPACTION

EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class Preservation:
    align: float
    cover: float
    conf_embed: float


def preservation(align: float, cover: float) -> Preservation:
    return Preservation(align, cover, clamp01((align + cover) / 2))


def measure(summary: Vectors, turns: Vectors) -> Preservation:
    """Compares a summary with its turns; `summary` is a single row from the same embedder as `turns`."""
    rows = as_matrix(turns)
    axis = as_matrix(summary)[0]
    align = float(cosines(centroid(rows)[np.newaxis, :], axis)[0])
    cover = float(np.maximum(cosines(rows, axis), 0.0).mean())
    return preservation(align, cover)


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
