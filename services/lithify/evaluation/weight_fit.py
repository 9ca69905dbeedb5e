"""Fits non-negative weights so that evidence comes first, and tells what was only learnt by heart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lithify.errors import Invalid
from lithify.memory.bounds import FloatArray
from lithify.memory.ranking.relevance import RelevanceWeights, relevance

CUTS: Final = (5, 10, 20)
STEPS = 200
RATE = 0.4  # of the first step; falls to 0 with the last
SHRINKAGE = 5e-4  # keeps signals that say the same from taking each other's weight
START = 2.0
MOMENTUM, INERTIA, TINY = 0.9, 0.99, 1e-8  # Adam's usual values

RecallByCut = dict[str, float]
"""Maps a cut to the mean share of a question's evidence among the first so many."""


@dataclass(frozen=True, slots=True)
class RankedExample:
    """What a question teaches: `signals` has a row for each candidate; `known` counts all evidence, found or not."""

    conversation: str
    signals: FloatArray
    is_evidence: npt.NDArray[np.bool_]
    known: int


def fit_weights(examples: Sequence[RankedExample]) -> RelevanceWeights:
    """Returns convex weights. The loss is the cross-entropy between the evidence and the softmax of the scores.

    The same examples always give the same weights: no batches are drawn and no start is random. Examples without any
    evidence among their candidates teach nothing and are left out.
    """
    signals, wanted, padding = stack_examples([example for example in examples if example.is_evidence.any()])
    weights = np.full(signals.shape[2], START)
    mean = np.zeros_like(weights)
    square = np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = gradient(weights, signals, wanted, padding)
        mean = MOMENTUM * mean + (1.0 - MOMENTUM) * slope
        square = INERTIA * square + (1.0 - INERTIA) * slope**2
        pace = RATE * (1.0 - step / STEPS) / (1.0 - MOMENTUM**step)
        moved = weights - pace * mean / (np.sqrt(square / (1.0 - INERTIA**step)) + TINY)
        weights = np.maximum(moved, 0.0)
    return RelevanceWeights(*(weights / weights.sum()).tolist())


def gradient(weights: FloatArray, signals: FloatArray, wanted: FloatArray, padding: FloatArray) -> FloatArray:
    scores = signals @ weights + padding
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    slope: FloatArray = np.einsum("qcs,qc->s", signals, chances - wanted) / len(signals) + SHRINKAGE * weights
    return slope


def stack_examples(examples: Sequence[RankedExample]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Returns signals, the share of each candidate in the evidence, and -inf where a question has fewer candidates."""
    longest = max(len(example.is_evidence) for example in examples)
    count = len(examples)
    signals = np.zeros((count, longest, examples[0].signals.shape[1]))
    wanted = np.zeros((count, longest))
    padding = np.full((count, longest), -np.inf)
    for row, example in enumerate(examples):
        size = len(example.is_evidence)
        signals[row, :size], padding[row, :size] = example.signals, 0.0
        wanted[row, :size] = example.is_evidence / example.is_evidence.sum()
    return signals, wanted, padding


@dataclass(frozen=True, slots=True)
class WeightFit:
    """The weights fitted on everything, what they reach there, and what such weights reach where they never looked."""

    weights: RelevanceWeights
    in_sample: RecallByCut
    held_out: RecallByCut
    by_conversation: dict[str, RecallByCut]  # each by the weights fitted on the others
    shipped: RecallByCut  # with the weights in use


def fit_across(examples: Sequence[RankedExample], shipped: RelevanceWeights) -> WeightFit:
    """Fits on all conversations, and on all but one in turn. Raises Invalid for a single one: nothing is held out."""
    conversations = list(dict.fromkeys(example.conversation for example in examples))
    if len(conversations) < 2:
        raise Invalid("a fit needs the questions of at least two conversations, to hold one out")
    weights = fit_weights(examples)
    shares = {name: held_out_shares(examples, name) for name in conversations}
    return WeightFit(
        weights=weights,
        in_sample=mean_recall(evidence_shares(examples, weights)),
        held_out=mean_recall([row for rows in shares.values() for row in rows]),
        by_conversation={name: mean_recall(rows) for name, rows in shares.items()},
        shipped=mean_recall(evidence_shares(examples, shipped)),
    )


def held_out_shares(examples: Sequence[RankedExample], conversation: str) -> list[list[float]]:
    others = [example for example in examples if example.conversation != conversation]
    own = [example for example in examples if example.conversation == conversation]
    return evidence_shares(own, fit_weights(others))


def evidence_shares(examples: Sequence[RankedExample], weights: RelevanceWeights) -> list[list[float]]:
    """Returns for each question the share of its evidence found at each cut."""
    return [shares_of(example, weights) for example in examples]


def shares_of(example: RankedExample, weights: RelevanceWeights) -> list[float]:
    best_first = np.argsort(-relevance(example.signals.T, weights), kind="stable")
    found = np.cumsum(example.is_evidence[best_first])
    return [float(found[min(cut, len(found)) - 1]) / example.known if len(found) else 0.0 for cut in CUTS]


def mean_recall(shares: Sequence[Sequence[float]]) -> RecallByCut:
    columns = np.array(shares).reshape(-1, len(CUTS)).mean(axis=0)
    return dict(zip(map(str, CUTS), columns.tolist(), strict=True))
