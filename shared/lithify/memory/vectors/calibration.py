"""Derives the exit threshold of a tier from questions whose full answer is known (spec 03 §5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lithify.errors import Invalid
from lithify.memory.bounds import FloatArray
from lithify.memory.vectors.tiers import tier_vector

NEVER: Final = 1.0  # above every score that float32 vectors of a tier reach
# A mean over fewer questions says little about the next one.
MIN_EXITS: Final = 30


@dataclass(frozen=True, slots=True)
class TierSample:
    """It is one question on one tier: its best score there, and the share of the full answer it would have returned."""

    best: float
    overlap: float


@dataclass(frozen=True, slots=True)
class ThresholdFit:
    """`exits` and `overlap` are those of the questions at or above the threshold.

    `false_positives` is the share that exits of the questions whose own overlap misses the target.
    """

    threshold: float
    exits: float
    overlap: float | None
    false_positives: float


def sample_tier(
    documents: npt.ArrayLike, questions: npt.ArrayLike, dims: int, limit: int, depth: int
) -> list[TierSample]:
    """Measures what an exit here costs: the first `depth` are ranked anew by all components, `limit` are kept."""
    texts = np.asarray(documents, np.float64)
    asked = np.asarray(questions, np.float64)
    full = tier_vector(asked, asked.shape[-1]) @ tier_vector(texts, texts.shape[-1]).T
    low = tier_vector(asked, dims) @ tier_vector(texts, dims).T
    candidates = _first(low, depth)
    ranked = _first(np.take_along_axis(full, candidates, axis=1), limit)
    kept = np.take_along_axis(candidates, ranked, axis=1)
    pairs = zip(kept, _first(full, limit), strict=True)
    overlaps = [len(np.intersect1d(ours, truth)) / len(truth) for ours, truth in pairs]
    return [TierSample(float(best), overlap) for best, overlap in zip(low.max(axis=1), overlaps, strict=True)]


def fit_threshold(samples: Sequence[TierSample], target: float) -> ThresholdFit:
    """Returns the lowest threshold from which on the questions that exit keep the target on average."""
    if not samples:
        raise Invalid("a threshold cannot be derived from no questions")
    candidates = sorted({round_up(sample.best) for sample in samples})
    fits = (judge_threshold(samples, threshold, target) for threshold in candidates)
    good = (fit for fit in fits if (fit.overlap or 0.0) >= target and fit.exits * len(samples) >= MIN_EXITS)
    return next(good, None) or judge_threshold(samples, NEVER, target)


def round_up(best: float) -> float:
    """Rounds upwards, for the eye: a threshold a little higher only lets fewer questions exit."""
    return min(NEVER, math.ceil(best * 1000) / 1000)


def judge_threshold(samples: Sequence[TierSample], threshold: float, target: float) -> ThresholdFit:
    exits = [sample.overlap for sample in samples if sample.best >= threshold]
    poor = [sample.best for sample in samples if sample.overlap < target]
    return ThresholdFit(
        threshold=threshold,
        exits=len(exits) / len(samples),
        overlap=float(np.mean(exits)) if exits else None,
        false_positives=sum(best >= threshold for best in poor) / len(poor) if poor else 0.0,
    )


def _first(scores: FloatArray, count: int) -> npt.NDArray[np.intp]:
    """Returns the positions of each row's highest scores, best first."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :count]
