"""The seven signals of the gating scalar, each in [0, 1] (spec 04 §3)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lithify.memory.bounds import clamp01, number_or
from lithify.memory.gating.gate_profile import NEIGHBOUR_LIMITS, NeighbourLimits
from lithify.memory.gating.patterns import PatternSet, count_matches, fires

# All seven add up to 2.8 against a norm of 1.5: it takes at least four to saturate T, not two (X03).
TECHNICAL = {"t1": 0.5, "t2": 0.4, "t3": 0.4, "t4": 0.4, "t5": 0.3, "t6": 0.5, "t7": 0.3}
CONVERSATIONAL = {"d1": 0.3, "d2": 0.2, "d3": 0.3, "d4": 0.4, "d5": 0.3}
SPECIFIC = {"t2": 0.4, "q1": 0.3, "q2": 0.5, "q3": 0.4, "t5": 0.3}
ACTIONABLE = {"a1": 0.5, "a2": 0.4, "a3": 0.3, "a4": 0.4}
STRUCTURAL = {"t3": 0.4, "s1": 0.3, "s2": 0.3, "s3": 0.2, "s4": 0.2}
CODE_POINTS_PER_UNIT = 4


@dataclass(frozen=True, slots=True)
class TextSignals:
    """They say what the text alone does: technical density, structure, specificity, actions, technical structure."""

    t: float
    d: float
    p: float
    a: float
    dtech: float


def text_signals(text: str, patterns: PatternSet, tech_norm: float) -> TextSignals:
    """Reads the signals of a text; a blank one has no evidence at all, so every signal is 0."""
    trimmed = text.strip()
    return TextSignals(
        t=min(_presence(trimmed, patterns, TECHNICAL) / tech_norm, 1.0),
        d=min(_presence(trimmed, patterns, CONVERSATIONAL), 1.0),
        p=_specificity(trimmed, patterns),
        a=min(_presence(trimmed, patterns, ACTIONABLE), 1.0),
        dtech=min(_presence(trimmed, patterns, STRUCTURAL), 1.0),
    )


def novelty(memory_scores: Sequence[float]) -> float:
    """Returns H: one minus the mean closeness of the durable neighbours; an opposite one counts as unrelated."""
    if not memory_scores:
        return 1.0
    return clamp01(1.0 - math.fsum(map(clamp01, memory_scores)) / len(memory_scores))


def input_frequency(turn_scores: Sequence[float], limits: NeighbourLimits = NEIGHBOUR_LIMITS) -> float:
    """Returns F: how often the user said this before."""
    return min(_at_least(limits.repeated, turn_scores) / limits.repeats, 1.0)


def saturation(memory_scores: Sequence[float], limits: NeighbourLimits = NEIGHBOUR_LIMITS) -> float:
    """Returns S: how well durable memory holds it already."""
    return min(_at_least(limits.known, memory_scores) / limits.saturated, 1.0)


def repetition(frequency: float, saturated: float) -> float:
    """Returns R, a product, so that full saturation vetoes any frequency."""
    return frequency * (1.0 - saturated)


def _presence(text: str, patterns: PatternSet, weights: Mapping[str, float]) -> float:
    return math.fsum(weight for name, weight in weights.items() if fires(patterns[name], text))


def _specificity(text: str, patterns: PatternSet) -> float:
    total = math.fsum(weight * count_matches(patterns[name], text) for name, weight in SPECIFIC.items())
    return min(total / max(gate_length(text) / 100, 1.0), 1.0)


def _at_least(floor: float, scores: Sequence[float]) -> int:
    return sum(1 for score in scores if number_or(score, 0.0) >= floor)


def gate_length(text: str) -> int:
    """Returns L(t), at least 1, in code points and not in bytes (X07); it is never to be used for a budget."""
    return max(len(text) // CODE_POINTS_PER_UNIT, 1)
