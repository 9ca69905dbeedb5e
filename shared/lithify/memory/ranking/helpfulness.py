"""How probable it is that a memory helps to answer: an absolute number, the same whatever else was found.

The signals of `relevance` order a list and are relative to its best; they cannot say that nothing in it fits. Here, two
logistic models are multiplied: whether the memory knows about the question at all, and whether this record is what it
knows. `lithify eval fit` fits both with questions that people asked of their own memory and of somebody else's.
"""

import math
from dataclasses import dataclass

import numpy as np

from lithify.memory.bounds import FloatArray
from lithify.memory.ranking.passages import Neighbours, rarity


@dataclass(frozen=True, slots=True)
class Calibration:
    """Holds the constants for one model, whose cosines have a level of their own; the last of each is added."""

    answerable: tuple[float, float, float, float]  # best cosine, best coverage of a passage, ln of the memory's size
    helpful: tuple[float, float, float, float, float]  # cosine, that of the passage, coverage, that of the passage


# For memories that were found by their words alone, whatever the model. Fitted like the others, on the same data.
WORDS_CALIBRATION = Calibration(answerable=(0.0, 6.79, 0.0, -2.22), helpful=(0.0, 0.0, 3.89, -0.15, -0.67))


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """Holds for each record how near it is to the question, and which share of the question's information it holds.

    Both by itself and with the turns around it. Cosines of a search without vectors are 0.
    """

    cosine: FloatArray
    passage_cosine: FloatArray
    coverage: FloatArray
    passage_coverage: FloatArray

    @property
    def rows(self) -> FloatArray:
        return np.stack([self.cosine, self.passage_cosine, self.coverage, self.passage_coverage])


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


def answerable_chance(calibration: Calibration, nearest: float, covered: float, size: int) -> float:
    """Returns how probable it is that a memory of `size` records knows about the question.

    `nearest` is the best cosine in all of it, `covered` the best coverage of a passage. The best of many unrelated
    records is nearer to any question than the best of few: the size makes up for that.
    """
    near, words, crowd, constant = calibration.answerable
    return logistic(near * nearest + words * covered + crowd * math.log(max(size, 1)) + constant)


def helpful_chances(calibration: Calibration, evidence: QuestionEvidence, answerable: float) -> list[float]:
    """Returns for each record how probable it is that it helps, in [0, 1]."""
    *weights, constant = calibration.helpful
    values: list[float] = (np.array(weights) @ evidence.rows + constant).tolist()
    return [answerable * logistic(value) for value in values]


def logistic(value: float) -> float:
    """Returns a probability for log odds of any size."""
    return 1.0 / (1.0 + math.exp(-value)) if value >= 0.0 else math.exp(value) / (1.0 + math.exp(value))


def is_helpful_enough(chance: float | None, floor: float | None) -> bool:
    """Says whether a record may be shown; where nobody knows its chance or wants a floor, it may."""
    return chance is None or floor is None or chance >= floor
