"""How well a memory answers the query: its signals and their convex mix, which generalises the cosine of spec 08 §3.

A new signal is a field of `Signals`, one of `RelevanceWeights`, its share in `RECALL_WEIGHTS`, and its column in
`lithify.assembly.recall.signals`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from lithify.memory.bounds import FloatArray, Share, convex, finite, unit


# Nobody changes one, but it is not frozen: a hundred are made for each answer, and freezing takes five times as long.
@dataclass(slots=True, unsafe_hash=True)
class Signals:
    """They are what the search found out about one record; the names are those of the public score components.

    `dense` is a cosine in [-1, 1] or one spread over [0, 1], the others lie in [0, 1]. None is a signal that this
    record cannot have.
    """

    dense: float = 0.0  # the meaning of the record, or of the passage around it
    lexical: float = 0.0  # its words, likewise
    neighbours: float = 0.0  # how much of `lexical` the turns around it lent; for the receipt, it has no weight
    session: float | None = None  # how much its session speaks of the query
    speaker: float = 0.0  # it is said by somebody the query names
    statement: float = 0.0  # it asks nothing
    reply: float | None = None  # it follows a question
    substance: float = 0.0  # it is not just a few words
    dated: float = 0.0  # the query asks for a time, and it names one
    # Absolute, for `helpfulness`; None where the model's cosines are not calibrated. They have no weight in the order.
    cosine: float | None = None
    coverage: float | None = None  # the share of the query's information it holds
    answerable: float | None = None  # how probable it is that this memory knows about the query
    helpful: float | None = None  # and that this record is what helps

    def by_name(self) -> dict[str, float | None]:
        """Returns every signal under its public name."""
        return {name: getattr(self, name) for name in SIGNAL_NAMES}


SIGNAL_NAMES = tuple(field.name for field in fields(Signals))


def signals_from_columns(columns: Mapping[str, Sequence[float | None]]) -> list[Signals]:
    """Builds the signals of many records from one column for each signal. Raises KeyError if a column is missing."""
    rows = zip(*(columns[name] for name in SIGNAL_NAMES), strict=True)
    # Only columns of signals that a record may lack hold None.
    return [Signals(*cast("tuple[float, ...]", row)) for row in rows]


class RelevanceWeights(NamedTuple):
    """The share of each signal, under the same name; the defaults are the plain cosine of profile `seed`."""

    dense: Share = 1.0
    lexical: Share = 0.0
    session: Share = 0.0
    speaker: Share = 0.0
    statement: Share = 0.0
    reply: Share = 0.0
    substance: Share = 0.0
    dated: Share = 0.0

    def normalise(self) -> Self:
        return type(self)(*convex(self, type(self)()))


COSINE_ONLY = RelevanceWeights()
# Fitted by `lithify eval fit` on five conversations and rounded; held out in turn, they lose less than .005. MiniLM
# alone would take .20 dense and .29 lexical, nomic .35 and .22: one set of weights costs either .01 at most.
RECALL_WEIGHTS = RelevanceWeights(
    dense=0.24,
    lexical=0.25,
    session=0.19,
    speaker=0.04,
    statement=0.04,
    reply=0.05,
    substance=0.09,
    dated=0.10,
).normalise()


def relevance(signals: npt.ArrayLike, weights: RelevanceWeights) -> FloatArray:
    """Returns a number in [0, 1] for each column of `signals`, whose rows are in the order of the weights.

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


def scale_by_maximum(scores: npt.ArrayLike, floor: float = 0.0) -> FloatArray:
    """Spreads the scores of one list over [0, 1]: `floor` and below become 0, the best becomes 1.

    A floor above 0 widens the narrow band in which some models keep all their cosines.
    """
    above = np.maximum(finite(scores), floor) - floor
    span = float(above.max(initial=0.0))
    return unit(above / span) if span > 0.0 else above
