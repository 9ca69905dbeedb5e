"""Weights of signals that depend softly on the kind of conversation, so that kinds share what the data do not part."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from lithify.memory.bounds import FloatArray
from lithify.memory.ranking.profile import Profile


class SignalShares(Protocol):
    """Says what share every signal has in a conversation with some facts."""

    def effective(self, facts: npt.ArrayLike) -> FloatArray:
        """Returns the share of each signal, in sum 1; for rows of facts, a row of shares for each."""


@dataclass(frozen=True, slots=True)
class ProfileShares:
    """The shares of a profile, which has three sets of weights and two facts that say where between them a talk is."""

    profile: Profile

    def effective(self, facts: npt.ArrayLike) -> FloatArray:
        known = np.asarray(facts, dtype=np.float64)
        dialogue, long_dialogue = known[..., 0], known[..., 1]
        long_turns = long_dialogue / np.where(dialogue > 0.0, dialogue, 1.0)
        return self.profile.weights.mix(dialogue, long_turns).T


@dataclass(frozen=True, slots=True)
class KindWeights:
    """The weight of signal i for a conversation with the facts c is softplus(base_i + by_fact_i · c), up to a factor.

    `by_fact` has a row for each signal; without facts its rows are empty, and the weights are the same everywhere.
    """

    base: tuple[float, ...]
    by_fact: tuple[tuple[float, ...], ...]

    @classmethod
    def constant(cls, shares: Sequence[float], facts: int = 0) -> Self:
        """Returns weights that are these shares for every conversation, whatever its facts."""
        base = invert_softplus(shares)
        return cls(tuple(base.tolist()), ((0.0,) * facts,) * len(shares))

    def effective(self, facts: npt.ArrayLike) -> FloatArray:
        """Returns the share of each signal, in sum 1; for rows of facts, a row of shares for each."""
        known = np.asarray(facts, dtype=np.float64)
        weights = softplus(np.array(self.base) + known @ np.array(self.by_fact).T)
        shares: FloatArray = weights / weights.sum(axis=-1, keepdims=True)
        return shares


def softplus(values: npt.ArrayLike) -> FloatArray:
    """Returns a smooth max(value, 0) that never is negative; -inf becomes 0."""
    return np.logaddexp(0.0, np.asarray(values, dtype=np.float64))


def invert_softplus(values: npt.ArrayLike) -> FloatArray:
    """Returns what softplus makes the values of; 0 becomes -inf."""
    positive = np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore"):
        inverted: FloatArray = np.log(np.expm1(positive))
    return inverted
