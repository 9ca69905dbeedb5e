"""How well a memory answers the query: its signals and their convex mix, which generalises the cosine of spec 08 §3.

A new signal is a field of `Signals`, one of `RelevanceWeights`, its share in `PEOPLE_WEIGHTS`, `CHAT_WEIGHTS` and
`DIALOGUE_WEIGHTS`, and its column in `lithify.assembly.recall.signals`.
"""

import math
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

    dense: float = 0.0  # the meaning of the record, of a long one that of its best piece
    lexical: float = 0.0  # its words, likewise
    passage_dense: float | None = None  # the meaning of the record with the turns around it
    passage_lexical: float | None = None  # the words of both
    neighbours: float = 0.0  # how much of those the turns around it lent; for the receipt, it has no weight
    session: float | None = None  # how much its session speaks of the query
    role: float = 0.0  # it is said by the one whose words are asked for: the user, or the assistant
    speaker: float = 0.0  # it is said by somebody the query names
    statement: float = 0.0  # how much of it asks nothing
    reply: float | None = None  # it follows a question
    substance: float = 0.0  # it is not just a few words
    dated: float = 0.0  # the query asks for a time, and it names one
    counted: float = 0.0  # the query asks how many or how much, and it names a number
    linked: float = 0.0  # it says a name that the best hit brings in
    # Which of the profile's three sets of weights it is judged by, see `TalkKind`.
    dialogue: float = 0.0
    long_turns: float = 0.0
    foreign: float = 0.0  # the question is in a language that the model does not read
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
    passage_dense: Share = 0.0
    passage_lexical: Share = 0.0
    session: Share = 0.0
    role: Share = 0.0
    speaker: Share = 0.0
    statement: Share = 0.0
    reply: Share = 0.0
    substance: Share = 0.0
    dated: Share = 0.0
    counted: Share = 0.0
    linked: Share = 0.0

    def normalise(self) -> Self:
        return type(self)(*convex(self, type(self)()))


COSINE_ONLY = RelevanceWeights()
# Fitted by `lithify eval fit` on four data sets of equal weight, and rounded; docs/evaluation.md has the figures.
# Of people who are named in what they say: a passage answers, not a turn.
PEOPLE_WEIGHTS = RelevanceWeights(
    dense=0.04,
    passage_dense=0.23,
    passage_lexical=0.19,
    session=0.12,
    role=0.06,
    speaker=0.02,
    statement=0.10,
    reply=0.03,
    substance=0.02,
    dated=0.08,
    counted=0.07,
    linked=0.04,
).normalise()
# Of a user with an assistant, in short turns: a turn answers by what it means, in other words than the question's.
CHAT_WEIGHTS = RelevanceWeights(
    dense=0.24,
    passage_dense=0.20,
    passage_lexical=0.02,
    session=0.04,
    role=0.14,
    speaker=0.02,
    statement=0.10,
    substance=0.06,
    dated=0.10,
    counted=0.04,
    linked=0.03,
).normalise()
# The same in long turns: one piece of one turn answers.
DIALOGUE_WEIGHTS = RelevanceWeights(
    dense=0.27,
    lexical=0.12,
    passage_dense=0.17,
    passage_lexical=0.01,
    session=0.13,
    role=0.18,
    speaker=0.02,
    statement=0.01,
    dated=0.08,
    counted=0.01,
    linked=0.01,
).normalise()

# Tokens of a mean turn up to which a talk counts as one of short turns, and from which on as one of long ones.
SHORT_TURN = 32.0
LONG_TURN = 256.0


class TalkKind(NamedTuple):
    """Says what kind of talk the turns at hand are, by two numbers in [0, 1], so that most are between two kinds."""

    dialogue: float = 0.0  # how many turns open with no name: a user and an assistant, not named people
    long_turns: float = 0.0  # how long they are on average


def tell_kind(lengths: Sequence[float], named: Sequence[bool]) -> TalkKind:
    """Tells the kind of a talk from the tokens of its turns and whether each opens with the name of its speaker."""
    if not lengths:
        return TalkKind()
    mean = max(sum(lengths) / len(lengths), 1.0)
    long = math.log(mean / SHORT_TURN) / math.log(LONG_TURN / SHORT_TURN)
    return TalkKind(1.0 - sum(named) / len(named), min(max(long, 0.0), 1.0))


# Of the weight of meaning, what words take over for a question that the model does not read. Of 0, .4 and .8 the best
# for the chats in other languages that the weights are fitted on; vectors of such texts still tell some related words.
FOREIGN_SHARE = 0.4
_WORDS_FOR_MEANING = tuple(
    (RelevanceWeights._fields.index(meaning), RelevanceWeights._fields.index(words))
    for meaning, words in (("dense", "lexical"), ("passage_dense", "passage_lexical"))
)


class WeightsByKind(NamedTuple):
    """Holds the weights of three kinds of talk, among which any other is mixed."""

    people: RelevanceWeights  # named people
    chat: RelevanceWeights  # a user with an assistant, in short turns
    dialogue: RelevanceWeights  # the same in long turns

    def mix(self, dialogue: npt.ArrayLike, long_turns: npt.ArrayLike, foreign: npt.ArrayLike = 0.0) -> FloatArray:
        """Returns a column of weights for each record: those of its kind of talk.

        Where the model does not read the language of the question, words take over most of what meaning counts.
        """
        towards = unit(dialogue)
        long = towards * unit(long_turns)
        shares = np.stack([1.0 - towards, towards - long, long])
        mixed: FloatArray = np.tensordot(np.array(self).T, shares, axes=1)
        for meaning, words in _WORDS_FOR_MEANING:
            moved = FOREIGN_SHARE * unit(foreign) * mixed[meaning]
            mixed[meaning] = mixed[meaning] - moved
            mixed[words] = mixed[words] + moved
        return mixed


def relevance(signals: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """Returns a number in [0, 1] for each column of `signals`, whose rows are in the order of the weights.

    The weights are the same for all columns, or have a column for each.

    Every signal is clamped to [0, 1] first. NaN is a signal that this record cannot have, as a rule has no session: its
    weight goes to the others in proportion, so that a record is neither buried nor raised by what it is.
    """
    rows = np.asarray(signals, dtype=np.float64)
    columns = np.asarray(weights, dtype=np.float64).reshape(len(rows), -1)
    shares = np.where(np.isnan(rows), 0.0, columns)
    total = shares.sum(axis=0)
    mixed: FloatArray = (shares * unit(rows)).sum(axis=0) / np.where(total > 0.0, total, 1.0)
    return np.minimum(mixed, 1.0)


def signed_relevance(mixed: FloatArray, dense: npt.ArrayLike, weight: FloatArray) -> FloatArray:
    """Continues relevance below 0 by the weighted cosine, since the similarity floor may be negative (spec 08 §1)."""
    return np.where(mixed > 0.0, mixed, weight * np.clip(finite(dense), -1.0, 0.0))


def scale_by_maximum(scores: npt.ArrayLike, floor: float = 0.0) -> FloatArray:
    """Spreads the scores of one list over [0, 1]: `floor` and below become 0, the best becomes 1.

    A floor above 0 widens the narrow band in which some models keep all their cosines.
    """
    above = np.maximum(finite(scores), floor) - floor
    span = float(above.max(initial=0.0))
    return unit(above / span) if span > 0.0 else above
