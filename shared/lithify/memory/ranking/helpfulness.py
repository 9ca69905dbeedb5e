"""How probable it is that a memory helps to answer: an absolute number, the same whatever else was found.

The signals of `relevance` order a list and are relative to its best; they cannot say that nothing in it fits. Here, two
logistic models are multiplied: whether the memory knows about the question at all, and whether this record is what it
knows. `lithify eval fit` fits both with questions that people asked of their own memory and of somebody else's.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lithify.memory.bounds import FloatArray
from lithify.memory.ranking.passages import Neighbours, rarity


@dataclass(frozen=True, slots=True)
class Calibration:
    """Holds the constants for one model, whose cosines have a level of their own; the last of each is added."""

    answerable: tuple[float, float, float, float]  # best cosine, best coverage of a passage, ln of the memory's size
    helpful: tuple[float, float, float]  # cosine, coverage


# For memories that were found by their words alone, whatever the model. Fitted like the others, on the same data.
WORDS_CALIBRATION = Calibration(answerable=(0.0, 6.79, 0.0, -2.22), helpful=(0.0, 3.8, -0.69))


class MemoryEvidence(NamedTuple):
    """Says what a memory as a whole shows of a question."""

    nearest: float  # the best cosine of all its records; 0 for a search without vectors
    covered: float  # the best coverage of a passage
    size: int  # how many records it has


def word_shares(weights: FloatArray) -> FloatArray:
    """Returns the share of each word in the information of the question: rare words tell most.

    `weights` has a row for each word and a column for each record at hand. A word that nobody here ever said counts
    with the full rarity: a question made of such words is covered by nothing.
    """
    inverse = rarity(weights)
    total = float(inverse.sum())
    return inverse / total if total > 0.0 else inverse


def coverage_of(shares: FloatArray, weights: FloatArray, around: Neighbours | None = None) -> FloatArray:
    """Returns the share of the question's information in each record, with what its neighbours lend it."""
    held = np.pad((weights > 0.0).astype(np.float64), ((0, 0), (0, 1)))
    best = held[:, :-1]
    for share, positions in around or ():
        best = np.maximum(best, share * held[:, positions])
    covered: FloatArray = shares @ best
    return covered


def answerable_chance(calibration: Calibration, memory: MemoryEvidence) -> float:
    """Returns how probable it is that a memory knows about the question.

    The best of many unrelated records is nearer to any question than the best of few: the size makes up for that.
    """
    near, words, crowd, constant = calibration.answerable
    crowded = math.log(max(memory.size, 1))
    return float(logistic(near * memory.nearest + words * memory.covered + crowd * crowded + constant))


def helpful_chances(
    calibration: Calibration, cosines: FloatArray, coverage: FloatArray, answerable: float
) -> FloatArray:
    """Returns for each record how probable it is that it helps, in [0, 1]."""
    near, words, constant = calibration.helpful
    return answerable * logistic(near * cosines + words * coverage + constant)


def logistic(values: npt.ArrayLike) -> FloatArray:
    """Returns probabilities for log odds of any size."""
    # By the hyperbolic tangent, which cannot overflow.
    halved: FloatArray = 0.5 + 0.5 * np.tanh(0.5 * np.asarray(values, dtype=np.float64))
    return halved


def is_helpful_enough(chance: float | None, floor: float | None) -> bool:
    """Says whether a record may be shown; where nobody knows its chance or wants a floor, it may."""
    return chance is None or floor is None or chance >= floor
