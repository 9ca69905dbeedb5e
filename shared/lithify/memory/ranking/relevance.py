"""How well a memory answers the query: the convex mix that generalises the bare cosine of spec 08 §3."""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from lithify.memory.bounds import convex
from lithify.memory.columns import FloatArray, finite, unit


class RelevanceWeights(NamedTuple):
    """Shares of the four signals; the defaults are the plain cosine of profile `seed`."""

    dense: float = 1.0  # w_d
    lexical: float = 0.0  # w_l
    neighbours: float = 0.0  # w_n
    session: float = 0.0  # w_s

    def normalised(self) -> Self:
        return type(self)(*convex(self, type(self)()))


COSINE_ONLY = RelevanceWeights()


def relevance(
    dense: npt.ArrayLike,
    lexical: npt.ArrayLike,
    neighbours: npt.ArrayLike,
    session: npt.ArrayLike,
    weights: RelevanceWeights,
) -> FloatArray:
    """A number in [0, 1] for convex weights; every signal is clamped to [0, 1] first."""
    answers = weights.dense * unit(dense) + weights.lexical * unit(lexical)
    context = weights.neighbours * unit(neighbours) + weights.session * unit(session)
    return np.minimum(answers + context, 1.0)


def signed_relevance(mixed: FloatArray, dense: npt.ArrayLike, weights: RelevanceWeights) -> FloatArray:
    """Continues relevance below 0 by the cosine, since the similarity floor may be negative (spec 08 §1)."""
    return np.where(mixed > 0.0, mixed, weights.dense * np.clip(finite(dense), -1.0, 0.0))


def by_maximum(scores: npt.ArrayLike, floor: float = 0.0) -> FloatArray:
    """Scores of one list spread over [0, 1]: `floor` and below become 0, the best becomes 1.

    A floor above 0 widens the narrow band in which some models keep all their cosines; the mean of the
    list is the usual choice.
    """
    above = np.maximum(finite(scores), floor) - floor
    span = float(above.max(initial=0.0))
    return unit(above / span) if span > 0.0 else above


def neighbour_signal(before: npt.ArrayLike, after: npt.ArrayLike) -> FloatArray:
    """What the turns around a turn say about it: the mean of their own scores, 0 where there is none."""
    return (unit(before) + unit(after)) / 2.0
