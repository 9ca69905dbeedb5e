"""The single-pass score: similarity, recency and scope, times summary quality (spec 02 §1)."""

from typing import NamedTuple, Self

import numpy.typing as npt

from lithify.memory.bounds import convex
from lithify.memory.columns import FloatArray, unit
from lithify.memory.ranking.candidate import Candidate


class HybridWeights(NamedTuple):
    similarity: float = 0.7  # α
    recency: float = 0.2  # β
    scope: float = 0.1  # γ

    def normalised(self) -> Self:
        return type(self)(*convex(self, type(self)()))


HYBRID_WEIGHTS = HybridWeights()


class HybridScored(NamedTuple):
    """One hit's row of a search receipt."""

    candidate: Candidate
    relevance: float
    recency: float
    scope: float
    quality: float
    score: float


def hybrid_score(
    similarity: npt.ArrayLike,
    fresh: npt.ArrayLike,
    scope: npt.ArrayLike,
    multiplier: npt.ArrayLike,
    weights: HybridWeights,
) -> FloatArray:
    """In [0, 1]; a negative similarity counts as 0."""
    alpha, beta, gamma = weights
    base = alpha * unit(similarity) + beta * unit(fresh) + gamma * unit(scope)
    return unit(base * unit(multiplier))
