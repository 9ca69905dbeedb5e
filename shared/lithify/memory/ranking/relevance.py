"""How well a memory answers the query: the convex mix that generalises the bare cosine of spec 08 §3."""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from lithify.memory.bounds import convex
from lithify.memory.columns import FloatArray, finite, unit


class RelevanceWeights(NamedTuple):
    """Shares of the signals; the defaults are the plain cosine of profile `seed`."""

    dense: float = 1.0  # the meaning of the record, or of the passage around it
    lexical: float = 0.0  # its words, likewise
    session: float = 0.0  # how much its session speaks of the query
    speaker: float = 0.0  # it is said by somebody the query names
    statement: float = 0.0  # it asks nothing
    reply: float = 0.0  # it follows a question
    substance: float = 0.0  # it is not just a few words
    dated: float = 0.0  # the query asks for a time, and it names one

    def normalised(self) -> Self:
        return type(self)(*convex(self, type(self)()))


COSINE_ONLY = RelevanceWeights()


def relevance(signals: npt.ArrayLike, weights: RelevanceWeights) -> FloatArray:
    """A number in [0, 1] for each column of `signals`, whose rows are in the order of the weights.

    Every signal is clamped to [0, 1] first. NaN is a signal that this record cannot have, as a rule has no session: its
    weight goes to the others in proportion, so that a record is neither buried nor raised by what it is.
    """
    rows = np.asarray(signals, dtype=np.float64)
    shares = np.where(np.isnan(rows), 0.0, np.array(weights)[:, None])
    total = shares.sum(axis=0)
    mixed: FloatArray = (shares * unit(rows)).sum(axis=0) / np.where(total > 0.0, total, 1.0)
    return np.minimum(mixed, 1.0)


def signed_relevance(mixed: FloatArray, dense: npt.ArrayLike, weights: RelevanceWeights) -> FloatArray:
    """Continues relevance below 0 by the cosine, since the similarity floor may be negative (spec 08 §1)."""
    return np.where(mixed > 0.0, mixed, weights.dense * np.clip(finite(dense), -1.0, 0.0))


def by_maximum(scores: npt.ArrayLike, floor: float = 0.0) -> FloatArray:
    """Scores of one list spread over [0, 1]: `floor` and below become 0, the best becomes 1.

    A floor above 0 widens the narrow band in which some models keep all their cosines.
    """
    above = np.maximum(finite(scores), floor) - floor
    span = float(above.max(initial=0.0))
    return unit(above / span) if span > 0.0 else above
