"""How much a memory counts apart from the query: recency, use, authorship (spec 08 §3) and quality (spec 02 §1)."""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from lithify.memory.bounds import FloatArray, Numbers, Share, convex, finite, unit

QUALITY_WEIGHT = 0.5  # δ


class AuthorityWeights(NamedTuple):
    """Weights that are all zero fall back to these defaults, not to those of the hybrid score (X41)."""

    recency: Share = 0.5  # α_r
    frequency: Share = 0.2  # α_f
    authored: Share = 0.3  # α_a

    def normalise(self) -> Self:
        return type(self)(*convex(self, type(self)()))


AUTHORITY_WEIGHTS = AuthorityWeights()


def frequency(access_count: npt.ArrayLike, max_access: float) -> FloatArray:
    """Returns f in [0, 1]: 0 without any access, below 1 because the denominator counts one access more.

    `max_access` is the running maximum over everything retrievable (X40); a stale one is raised to the list's own.
    """
    counts = np.maximum(finite(access_count), 0.0)
    highest = max(float(finite(max_access)), float(counts.max(initial=0.0)))
    used: FloatArray = np.log1p(counts) / np.log(2.0 + highest)
    return np.minimum(used, 1.0)  # of huge counts the two logarithms are rounded apart


def authored_value(authority: Numbers, authored: npt.ArrayLike) -> FloatArray:
    """Returns a: the declared authority where there is one, else 1 for authored text and 0 for the rest."""
    return np.clip(finite(authority, absent=authored), 0.0, 1.0)


def authority_weight(
    fresh: npt.ArrayLike, used: npt.ArrayLike, declared: npt.ArrayLike, weights: AuthorityWeights
) -> FloatArray:
    """Returns ω, which is in [0, 1] for convex weights and parts in [0, 1]."""
    mixed = weights.recency * unit(fresh) + weights.frequency * unit(used) + weights.authored * unit(declared)
    return np.minimum(mixed, 1.0)


def quality(decay_rate: npt.ArrayLike, delta: float = QUALITY_WEIGHT) -> FloatArray:
    """Returns Q in [1 − δ, 1] of a summary with this decay; everything else passes a decay of 0."""
    return 1.0 - delta * unit(decay_rate)
