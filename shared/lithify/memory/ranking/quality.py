"""What a lossy summary costs in rank: the compaction quality multiplier (spec 02 §1)."""

import numpy.typing as npt

from lithify.memory.columns import FloatArray, unit

QUALITY_WEIGHT = 0.5  # δ


def quality(decay_rate: npt.ArrayLike, delta: float = QUALITY_WEIGHT) -> FloatArray:
    """Q in [1 − δ, 1] of a summary with this decay; everything else passes a decay of 0."""
    return 1.0 - delta * unit(decay_rate)
