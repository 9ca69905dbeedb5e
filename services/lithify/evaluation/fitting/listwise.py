"""Fits non-negative weights so that evidence comes first: gradient descent on a listwise loss, without any chance."""

from collections.abc import Sequence

import numpy as np

from lithify.evaluation.fitting.examples import Example
from lithify.memory.bounds import FloatArray
from lithify.memory.ranking.relevance import RelevanceWeights

STEPS = 200
RATE = 0.4  # of the first step; falls to 0 with the last
SHRINKAGE = 5e-4  # keeps signals that say the same from taking each other's weight
START = 2.0
MOMENTUM, INERTIA, TINY = 0.9, 0.99, 1e-8  # Adam's usual values


def fit_weights(examples: Sequence[Example]) -> RelevanceWeights:
    """Convex weights. The loss is the cross-entropy between the evidence and the softmax of the scores.

    The same examples always give the same weights: no batches are drawn and no start is random. Examples without any
    evidence among their candidates teach nothing and are left out.
    """
    signals, wanted, padding = stacked([example for example in examples if example.is_evidence.any()])
    weights = np.full(signals.shape[2], START)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
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


def stacked(examples: Sequence[Example]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Signals, the share of each candidate in the evidence, and -inf where a question has fewer candidates."""
    longest = max(len(example.is_evidence) for example in examples)
    count, width = len(examples), examples[0].signals.shape[1]
    signals, wanted = np.zeros((count, longest, width)), np.zeros((count, longest))
    padding = np.full((count, longest), -np.inf)
    for row, example in enumerate(examples):
        size = len(example.is_evidence)
        signals[row, :size], padding[row, :size] = example.signals, 0.0
        wanted[row, :size] = example.is_evidence / example.is_evidence.sum()
    return signals, wanted, padding
