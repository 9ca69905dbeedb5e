"""Fits non-negative weights that depend softly on the kind of conversation, so that evidence comes first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from lithify.errors import Invalid
from lithify.evaluation.kind_weights import KindWeights
from lithify.memory.bounds import FloatArray

STEPS: Final = 300
RATE: Final = 0.4  # of the first step; falls to 0 with the last
SHRINKAGE: Final = 5e-4  # keeps signals that say the same from taking each other's weight
# Kinds share their weights unless the data insist: for facts of unit variance, as the fit sees them.
KIND_SHRINKAGE: Final = 5e-4
START: Final = 2.0
MOMENTUM, INERTIA, TINY = 0.9, 0.99, 1e-8  # Adam's usual values

# Half the memory and twice the speed of the usual floats; what is fitted is rounded to a few digits anyway.
Small = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RankedExample:
    """What a question teaches: `signals` has a row for each candidate; `known` counts all evidence, found or not.

    NaN is a signal that a candidate cannot have. `facts` describe the conversation, for weights by kind.
    """

    conversation: str
    signals: FloatArray
    is_evidence: npt.NDArray[np.bool_]
    known: int
    dataset: str = ""
    facts: FloatArray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, slots=True)
class ExampleStack:
    """Many examples in one block, padded to the longest: questions × candidates × signals."""

    signals: Small  # 0 where a candidate has none
    present: Small  # 1 where a candidate has the signal, 0 where it cannot
    wanted: Small  # the share of each candidate in the evidence of its question
    padding: Small  # -inf where a question has fewer candidates, else 0
    design: Small  # 1 and the scaled facts of each question
    importance: Small  # of each question; in sum 1
    sharpness: Small  # by which the scores of each question's data set are multiplied


@dataclass(frozen=True, slots=True)
class FactScale:
    """Brings facts to mean 0 and variance 1; one that never varies counts for nothing."""

    mean: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, facts: FloatArray, importance: FloatArray) -> "FactScale":
        mean = importance @ facts
        return cls(mean, np.sqrt(importance @ (facts - mean) ** 2))

    def scale(self, facts: FloatArray) -> FloatArray:
        scaled: FloatArray = (facts - self.mean) * self._factors
        return scaled

    def restore(self, parameters: FloatArray) -> KindWeights:
        """Returns the weights for facts as they are, from a row of constant and slopes for each signal."""
        slopes = parameters[:, 1:] * self._factors
        base = parameters[:, 0] - slopes @ self.mean
        return KindWeights(tuple(base.tolist()), tuple(map(tuple, slopes.tolist())))

    @property
    def _factors(self) -> FloatArray:
        varies = self.spread > TINY
        return np.where(varies, 1.0 / np.where(varies, self.spread, 1.0), 0.0)


def fit_weights(
    examples: Sequence[RankedExample], kind_shrinkage: float = KIND_SHRINKAGE, steps: int = STEPS
) -> KindWeights:
    """Returns the weights whose scores, as a softmax over the candidates, are closest to the evidence.

    All data sets weigh the same in total. The same examples always give the same weights: no batches are drawn and no
    start is random. Examples without any evidence among their candidates teach nothing and are left out. Raises Invalid
    if none is left.
    """
    telling = [example for example in examples if example.is_evidence.any()]
    if not telling:
        raise Invalid("a fit needs questions with evidence among what was found")
    importance = weigh_questions(telling)
    facts = np.stack([example.facts for example in telling])
    scale = FactScale.of(facts, importance)
    stack = stack_examples(telling, scale.scale(facts), importance, find_sharpness(telling, steps))
    return scale.restore(descend(stack, kind_shrinkage, steps).astype(np.float64))


def find_sharpness(examples: Sequence[RankedExample], steps: int) -> FloatArray:
    """Returns how sharply the softmax of each question's data set decides, relative to the others.

    A question with one evidence turn wants large weights, one with fifty of them small ones. Both shall agree about
    the order and not about the sum, so each set keeps the sum that it would choose alone.
    """
    names = list(dict.fromkeys(example.dataset for example in examples))
    if len(names) == 1:
        return np.ones(len(examples))
    sums = {}
    for name in names:
        own = [replace(one, facts=np.zeros(0)) for one in examples if one.dataset == name]
        stack = stack_examples(own, np.zeros((len(own), 0)), weigh_questions(own), np.ones(len(own)))
        sums[name] = float(np.logaddexp(0.0, descend(stack, 0.0, steps)).sum())
    usual = float(np.mean(list(sums.values())))
    return np.array([sums[example.dataset] / usual for example in examples])


def weigh_questions(examples: Sequence[RankedExample]) -> FloatArray:
    """Returns the weight of each question: the same in sum for every data set, and 1 for all together."""
    sizes = Counter(example.dataset for example in examples)
    return np.array([1.0 / (len(sizes) * sizes[example.dataset]) for example in examples])


def stack_examples(
    examples: Sequence[RankedExample], facts: FloatArray, importance: FloatArray, sharpness: FloatArray
) -> ExampleStack:
    longest = max(len(example.is_evidence) for example in examples)
    count = len(examples)
    signals = np.zeros((count, longest, examples[0].signals.shape[1]), dtype=np.float32)
    wanted = np.zeros((count, longest), dtype=np.float32)
    padding = np.full((count, longest), -np.inf, dtype=np.float32)
    for row, example in enumerate(examples):
        size = len(example.is_evidence)
        # As relevance does: a signal beyond its bounds counts as the bound.
        signals[row, :size] = np.clip(example.signals, 0.0, 1.0)
        padding[row, :size] = 0.0
        wanted[row, :size] = example.is_evidence / example.is_evidence.sum()
    missing = np.isnan(signals)
    design = np.concatenate([np.ones((count, 1)), facts], axis=1)
    return ExampleStack(
        signals=np.where(missing, np.float32(0.0), signals),
        present=(~missing).astype(np.float32),
        wanted=wanted,
        padding=padding,
        design=design.astype(np.float32),
        importance=importance.astype(np.float32),
        sharpness=sharpness.astype(np.float32),
    )


def descend(stack: ExampleStack, kind_shrinkage: float, steps: int) -> Small:
    """Returns the best parameters, a row of constant and slopes for each signal, by Adam over all examples at once."""
    parameters = np.zeros((stack.signals.shape[2], stack.design.shape[1]), dtype=np.float32)
    parameters[:, 0] = START
    mean = np.zeros_like(parameters)
    square = np.zeros_like(parameters)
    for step in range(1, steps + 1):
        slope = gradient(parameters, stack, kind_shrinkage)
        mean = MOMENTUM * mean + (1.0 - MOMENTUM) * slope
        square = INERTIA * square + (1.0 - INERTIA) * slope**2
        pace = RATE * (1.0 - step / steps) / (1.0 - MOMENTUM**step)
        parameters = parameters - pace * mean / (np.sqrt(square / (1.0 - INERTIA**step)) + TINY)
    return parameters


def gradient(parameters: Small, stack: ExampleStack, kind_shrinkage: float) -> Small:
    """Returns the slope of `loss` at the parameters.

    The weights are not brought to sum 1 here: their sum says how sharp the softmax is, and does not change an order.
    """
    levels = stack.design @ parameters.T
    weights = np.logaddexp(np.float32(0.0), levels)
    means, trust = mix_stack(stack, weights)
    error = (find_chances(stack, weights, means) - stack.wanted) * (stack.importance * stack.sharpness)[:, None]
    # The score is (sum of all weights) × (mean of the present signals by their weights); trust is its first part
    # over the sum of the present weights.
    lent = error * trust
    by_weight = (error * means).sum(axis=1, keepdims=True)
    by_weight = by_weight + (lent[:, None, :] @ stack.signals)[:, 0]
    by_weight -= ((lent * means)[:, None, :] @ stack.present)[:, 0]
    by_weight += SHRINKAGE * stack.importance[:, None] * weights
    by_level = by_weight / (1.0 + np.exp(-levels))
    slope: Small = by_level.T @ stack.design
    slope[:, 1:] += kind_shrinkage * parameters[:, 1:]
    return slope


def loss(parameters: Small, stack: ExampleStack, kind_shrinkage: float) -> float:
    """Returns the mean cross-entropy between evidence and softmax, and what large and unlike weights cost."""
    weights = np.logaddexp(np.float32(0.0), stack.design @ parameters.T)
    means, _ = mix_stack(stack, weights)
    chances = find_chances(stack, weights, means)
    surprise = -(stack.wanted * np.log(np.maximum(chances, 1e-30))).sum(axis=1)
    size = 0.5 * SHRINKAGE * (weights**2).sum(axis=1)
    return float(stack.importance @ (surprise + size) + 0.5 * kind_shrinkage * (parameters[:, 1:] ** 2).sum())


def mix_stack(stack: ExampleStack, weights: Small) -> tuple[Small, Small]:
    """Returns the weighted mean of each candidate's signals, and all weights over those of the signals it has."""
    column = weights[:, :, None]
    total = (stack.present @ column)[:, :, 0]
    means = (stack.signals @ column)[:, :, 0] / np.maximum(total, TINY)
    return means, weights.sum(axis=1, keepdims=True) / np.maximum(total, TINY)


def find_chances(stack: ExampleStack, weights: Small, means: Small) -> Small:
    scores = means * weights.sum(axis=1, keepdims=True) * stack.sharpness[:, None] + stack.padding
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Small = chances / chances.sum(axis=1, keepdims=True)
    return shares
