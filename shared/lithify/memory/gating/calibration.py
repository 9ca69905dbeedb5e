"""From scores and labels to a threshold: how scores spread, and how likely a score means a useful turn (spec 04 §7)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lithify.memory.bounds import clamp01


@dataclass(frozen=True, slots=True)
class Step:
    """One step says: from the score `least` on, `share` of the turns are useful; `turns` of them were seen."""

    least: float
    share: float
    turns: int


@dataclass(frozen=True, slots=True)
class GateQuality:
    """It says how well what was kept and what was useful agree."""

    turns: int
    useful: int
    kept: int
    both: int

    @property
    def precision(self) -> float:
        return self.both / self.kept if self.kept else 0.0

    @property
    def recall(self) -> float:
        return self.both / self.useful if self.useful else 0.0


def histogram(scores: Iterable[float], bins: int) -> tuple[int, ...]:
    """Counts the scores over equal parts of [0, 1]; a score of 1 falls into the last."""
    counts = [0] * bins
    for score in scores:
        counts[min(int(clamp01(score) * bins), bins - 1)] += 1
    return tuple(counts)


def fit_isotonic(scores: Sequence[float], useful: Sequence[bool]) -> tuple[Step, ...]:
    """Fits P(useful | score) as the monotone steps nearest to the labels, by pooling adjacent violators.

    No shape is assumed but that a higher score never means less.
    """
    labels: defaultdict[float, list[bool]] = defaultdict(list)
    for score, label in zip(scores, useful, strict=True):
        labels[score].append(label)
    steps: list[Step] = []
    for score, said in sorted(labels.items()):
        step = Step(score, sum(said) / len(said), len(said))
        while steps and steps[-1].share >= step.share:
            step = _pool(steps.pop(), step)
        steps.append(step)
    return tuple(steps)


def _pool(lower: Step, upper: Step) -> Step:
    turns = lower.turns + upper.turns
    return Step(lower.least, (lower.share * lower.turns + upper.share * upper.turns) / turns, turns)


def suggest_threshold(steps: Iterable[Step], wanted: float) -> float | None:
    """Returns the lowest score from which at least the `wanted` share is useful; None if there is none."""
    return next((step.least for step in steps if step.share >= wanted), None)


def measure_quality(kept: Sequence[bool], useful: Sequence[bool]) -> GateQuality:
    both = sum(one and other for one, other in zip(kept, useful, strict=True))
    return GateQuality(len(kept), sum(useful), sum(kept), both)
