"""Admission control of durable memory: the gating scalar G, the decision it leads to (spec 04), and restatements."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

from lithify.errors import Misconfigured
from lithify.memory.bounds import clamp, clamp01, convex, is_number, number_or
from lithify.memory.gating.gate_profile import (
    LEARNED_WEIGHTS,
    NEIGHBOUR_LIMITS,
    PATTERN_WEIGHTS,
    GateWeights,
    NeighbourLimits,
)
from lithify.memory.gating.patterns import PATTERN_SETS
from lithify.memory.gating.signals import input_frequency, novelty, repetition, saturation, text_signals

Weights = tuple[float, float, float]

CONVERSATIONAL_WEIGHTS: Weights = (*PATTERN_WEIGHTS.conversational,)
TECHNICAL_WEIGHTS: Weights = (*PATTERN_WEIGHTS.technical,)
TECH_NORM = PATTERN_WEIGHTS.tech_norm
# Of the gate that looks for patterns alone; with a learned worth the threshold is another.
PATTERN_THRESHOLD = PATTERN_WEIGHTS.threshold

USER_STABILITY = 0.5  # the role weight of a user turn (spec 01 §5)

# Negations are stop words to a search, so they are missing from its tokens.
_NEGATION = re.compile(r"\b(?:not|no|nor|neither|cannot|dont|didnt|doesnt|cant|wont|isnt)\b|n['’]t\b", re.IGNORECASE)


def _convex_branch(weights: Weights, defaults: Weights) -> tuple[float, ...]:
    """Makes one branch sum to one (X05); one non-finite weight discards the whole branch."""
    return convex(weights, defaults) if all(map(is_number, weights)) else defaults


def _check_option(option: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise Misconfigured(f"gate option {option} is {value!r}; choose one of {', '.join(allowed)}")


@dataclass(frozen=True, slots=True)
class GateConfig:
    """The weights and limits of the gate; a bad number is repaired on construction, an unknown name is refused."""

    w1c: float = CONVERSATIONAL_WEIGHTS[0]
    w2c: float = CONVERSATIONAL_WEIGHTS[1]
    w3c: float = CONVERSATIONAL_WEIGHTS[2]
    w1t: float = TECHNICAL_WEIGHTS[0]
    w2t: float = TECHNICAL_WEIGHTS[1]
    w3t: float = TECHNICAL_WEIGHTS[2]
    tech_norm: float = TECH_NORM
    threshold: float = PATTERN_THRESHOLD
    patterns: str = "gp1"
    limits: NeighbourLimits = NEIGHBOUR_LIMITS
    # X01: gating is the default; `always` admits every user turn and still records the signals.
    durable_admission: Literal["gate", "always"] = "gate"

    def __post_init__(self) -> None:
        _check_option("patterns", self.patterns, tuple(PATTERN_SETS))
        _check_option("durable_admission", self.durable_admission, ("gate", "always"))
        repaired = {
            **dict(
                zip(("w1c", "w2c", "w3c"), _convex_branch(self.conversational, CONVERSATIONAL_WEIGHTS), strict=True)
            ),
            **dict(zip(("w1t", "w2t", "w3t"), _convex_branch(self.technical, TECHNICAL_WEIGHTS), strict=True)),
            "tech_norm": self.tech_norm if is_number(self.tech_norm) and self.tech_norm > 0 else TECH_NORM,
            "threshold": clamp01(number_or(self.threshold, PATTERN_THRESHOLD)),
        }
        for name, value in repaired.items():
            object.__setattr__(self, name, value)

    @property
    def conversational(self) -> Weights:
        return self.w1c, self.w2c, self.w3c

    @property
    def technical(self) -> Weights:
        return self.w1t, self.w2t, self.w3t


def make_config(weights: GateWeights, patterns: str, limits: NeighbourLimits = NEIGHBOUR_LIMITS) -> GateConfig:
    """Makes the gate of a profile: its weights, the pattern set they are for, and what counts as repeated."""
    w1c, w2c, w3c = weights.conversational
    w1t, w2t, w3t = weights.technical
    return GateConfig(
        w1c=w1c,
        w2c=w2c,
        w3c=w3c,
        w1t=w1t,
        w2t=w2t,
        w3t=w3t,
        tech_norm=weights.tech_norm,
        threshold=weights.threshold,
        patterns=patterns,
        limits=limits,
    )


PATTERN_CONFIG = GateConfig()
LEARNED_CONFIG = make_config(LEARNED_WEIGHTS, "gp2")


@dataclass(frozen=True, slots=True)
class GateDecision:
    """It holds G with everything it was made of, so that any stored decision can be explained and recomputed."""

    score: float
    t: float
    h: float
    r: float
    d: float
    p: float
    a: float
    dtech: float
    gconv: float
    gtech: float
    input_freq: float
    mem_saturation: float
    patterns: str
    promote: bool

    @property
    def stability_weight(self) -> float:
        """Returns the weight of the promoted record, which is never below what any user turn has."""
        return max(USER_STABILITY, self.score)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any], *, promote: bool) -> Self | None:
        """Reads the decision a stored record carries; None if the gate has not seen it."""
        if payload.get("gating_score") is None:
            return None
        stored = {field.name: payload.get(f"gating_{field.name}", 0.0) for field in fields(cls)}
        return cls(**stored | {"patterns": str(payload.get("gating_patterns", "")), "promote": promote})

    def as_payload(self) -> dict[str, float | str]:
        """Returns the fields of a stored record; a reader takes an absent one as 0."""
        return {
            "gating_score": self.score,
            "gating_t": self.t,
            "gating_h": self.h,
            "gating_r": self.r,
            "gating_d": self.d,
            "gating_p": self.p,
            "gating_a": self.a,
            "gating_dtech": self.dtech,
            "gating_gconv": self.gconv,
            "gating_gtech": self.gtech,
            "gating_input_freq": self.input_freq,
            "gating_mem_saturation": self.mem_saturation,
            "gating_patterns": self.patterns,
        }


def gate(
    text: str,
    turn_scores: Sequence[float],
    memory_scores: Sequence[float],
    config: GateConfig = PATTERN_CONFIG,
    worth: float | None = None,
    source: str = "worth",
) -> GateDecision:
    """Decides by G = (1 − T)·Gconv + T·Gtech, from the similarities of two searches, the text and the configuration.

    A `worth` in [0, 1] stands for what D and A look for in the words: whether something is stated that matters later.
    `source` names where it comes from.
    """
    said = text_signals(text, PATTERN_SETS[config.patterns], config.tech_norm)
    if worth is not None:
        said = replace(said, d=clamp01(worth), a=clamp01(worth))
    frequency = input_frequency(turn_scores, config.limits)
    saturated = saturation(memory_scores, config.limits)
    h = novelty(memory_scores)
    r = repetition(frequency, saturated)
    gconv = _mix(config.conversational, (h, r, said.d))
    gtech = _mix(config.technical, (said.p, said.a, said.dtech))
    score = blend(said.t, gconv, gtech)
    return GateDecision(
        score=score,
        t=said.t,
        h=h,
        r=r,
        d=said.d,
        p=said.p,
        a=said.a,
        dtech=said.dtech,
        gconv=gconv,
        gtech=gtech,
        input_freq=frequency,
        mem_saturation=saturated,
        patterns=config.patterns if worth is None else f"{config.patterns}+{source}",
        promote=config.durable_admission == "always" or score >= config.threshold,
    )


def blend(t: float, gconv: float, gtech: float) -> float:
    """Mixes convexly in T; clamps to the branches because rounding may leave them by one unit in the last place."""
    return clamp((1.0 - t) * gconv + t * gtech, min(gconv, gtech), max(gconv, gtech))


def _mix(weights: Weights, signals: Weights) -> float:
    return clamp01(sum(weight * signal for weight, signal in zip(weights, signals, strict=True)))


def restates(said: str, known: str, said_tokens: Sequence[str], known_tokens: Sequence[str]) -> bool:
    """Returns whether the known text may stand for the said one: every token is in it, in this order.

    The tokens are those of the search: stems, numbers and names, without function words.
    """
    return _negations(said) == _negations(known) and _in_order(said_tokens, known_tokens)


def _negations(text: str) -> int:
    return sum(1 for _ in _NEGATION.finditer(text))


def _in_order(part: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(token in rest for token in part)
