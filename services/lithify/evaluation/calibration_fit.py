"""Fits the constants of `helpfulness`, and tells what they are worth on conversations and data sets not fitted on.

Two logistic models: whether a question is asked of its own memory or of somebody else's, and which records of its own
memory are evidence. Every data set has the same weight, and in it own and foreign questions, evidence and the rest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lithify.errors import Invalid
from lithify.memory.bounds import BoolArray, FloatArray
from lithify.memory.ranking.helpfulness import (
    Calibration,
    MemoryEvidence,
    answerable_chance,
    helpful_chances,
    logistic,
)

SHRINKAGE: Final = 1e-3  # of slopes for features of unit variance
STEPS: Final = 100
CLOSE: Final = 1e-9
DIGITS: Final = 3
FLOORS: Final = (0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3, 0.5)


@dataclass(frozen=True, slots=True)
class JudgedExample:
    """What one question shows, asked of one memory: of the whole, and of each record that was found."""

    dataset: str
    conversation: str  # that the question is about
    is_own: bool
    memory: MemoryEvidence
    cosines: FloatArray
    coverage: FloatArray
    is_evidence: BoolArray
    tokens: FloatArray


def fit_calibration(examples: Sequence[JudgedExample]) -> Calibration:
    """Returns the constants; the same examples always give the same. Raises Invalid without own or foreign ones."""
    if {example.is_own for example in examples} != {False, True}:
        raise Invalid("the calibration needs questions asked of their own memory and of others'")
    sets = group_by_dataset(examples)
    known = [fit_memory_part(rows) for rows in sets]
    told = [fit_record_part([row for row in rows if row.is_own]) for rows in sets]
    near, words, crowd, constant = fit_logistic(*map(np.concatenate, zip(*known, strict=True)))
    cosine, coverage, level = fit_logistic(*map(np.concatenate, zip(*told, strict=True)))
    return Calibration((near, words, crowd, constant), (cosine, coverage, level))


def group_by_dataset(examples: Sequence[JudgedExample]) -> list[list[JudgedExample]]:
    names = dict.fromkeys(example.dataset for example in examples)
    return [[example for example in examples if example.dataset == name] for name in names]


def fit_memory_part(examples: Sequence[JudgedExample]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Returns features, labels and weights of one data set for the first model."""
    features = np.array([(e.memory.nearest, e.memory.covered, np.log(max(e.memory.size, 1))) for e in examples])
    is_own = np.array([example.is_own for example in examples])
    return features, is_own.astype(np.float64), balance(is_own)


def fit_record_part(examples: Sequence[JudgedExample]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Returns features, labels and weights of one data set for the second model."""
    cosines = np.concatenate([example.cosines for example in examples])
    coverage = np.concatenate([example.coverage for example in examples])
    is_evidence = np.concatenate([example.is_evidence for example in examples])
    return np.stack([cosines, coverage], axis=1), is_evidence.astype(np.float64), balance(is_evidence)


def balance(labels: BoolArray) -> FloatArray:
    """Returns weights that add up to one half for each of the two labels."""
    positive = max(int(labels.sum()), 1)
    negative = max(int((~labels).sum()), 1)
    return np.where(labels, 0.5 / positive, 0.5 / negative)


def fit_logistic(features: FloatArray, labels: FloatArray, weights: FloatArray) -> list[float]:
    """Returns a slope for each feature and the constant, by Newton's method.

    Features are standardised for it: the shrinkage must not depend on the level and spread of a model's cosines.
    """
    share = weights / weights.sum()
    middle = share @ features
    spread = np.sqrt(share @ (features - middle) ** 2)
    scale = np.where(spread > 0.0, spread, 1.0)
    rows = np.column_stack([(features - middle) / scale, np.ones(len(features))])
    penalty = np.full(rows.shape[1], SHRINKAGE)
    penalty[-1] = 0.0
    slopes = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chances = logistic(rows @ slopes)
        gradient = rows.T @ (share * (chances - labels)) + penalty * slopes
        curvature = (rows * (share * chances * (1.0 - chances))[:, None]).T @ rows
        step = np.linalg.solve(curvature + np.diag(penalty + CLOSE), gradient)
        slopes = slopes - step
        if float(np.abs(step).max()) < CLOSE:
            break
    raw = slopes[:-1] / scale
    return [round(float(value), DIGITS) for value in (*raw, slopes[-1] - float(raw @ middle))]


@dataclass(frozen=True, slots=True)
class FloorFigures:
    """Says what a floor does: the share of found evidence it keeps, and of the tokens found for foreign questions."""

    evidence: float
    own_tokens: float
    foreign_tokens: float


@dataclass(frozen=True, slots=True)
class CalibrationFit:
    """The constants fitted on everything, and what the floors do where such constants never looked.

    `by_conversation` leaves out the questions about one conversation in turn, `by_dataset` all of one set.
    """

    calibration: Calibration
    in_sample: dict[str, dict[str, FloorFigures]]
    by_conversation: dict[str, dict[str, FloorFigures]]
    by_dataset: dict[str, dict[str, FloorFigures]]


def fit_calibration_across(examples: Sequence[JudgedExample]) -> CalibrationFit:
    """Fits on everything, on all conversations but one in turn, and on all data sets but one, if there are several."""
    everywhere = fit_calibration(examples)
    names = list(dict.fromkeys(example.dataset for example in examples))
    conversations = dict.fromkeys((example.dataset, example.conversation) for example in examples)
    own_fits = {
        key: fit_calibration([e for e in examples if (e.dataset, e.conversation) != key]) for key in conversations
    }
    other_sets = {
        name: fit_calibration([e for e in examples if e.dataset != name]) for name in (names if names[1:] else [])
    }
    return CalibrationFit(
        calibration=everywhere,
        in_sample=floor_table((e, everywhere) for e in examples),
        by_conversation=floor_table((e, own_fits[e.dataset, e.conversation]) for e in examples),
        by_dataset=floor_table((e, other_sets[e.dataset]) for e in examples if other_sets),
    )


def floor_table(judged: Iterable[tuple[JudgedExample, Calibration]]) -> dict[str, dict[str, FloorFigures]]:
    """Returns by data set what each floor does to examples, each judged by the constants beside it."""
    rows: dict[str, list[tuple[JudgedExample, FloatArray]]] = {}
    for example, calibration in judged:
        rows.setdefault(example.dataset, []).append((example, chances_of(example, calibration)))
    return {name: {str(floor): measure_floor(found, floor) for floor in FLOORS} for name, found in rows.items()}


def chances_of(example: JudgedExample, calibration: Calibration) -> FloatArray:
    answerable = answerable_chance(calibration, example.memory)
    return helpful_chances(calibration, example.cosines, example.coverage, answerable)


def measure_floor(judged: Sequence[tuple[JudgedExample, FloatArray]], floor: float) -> FloorFigures:
    kept: dict[bool, list[float]] = {True: [], False: []}
    found: dict[bool, list[float]] = {True: [], False: []}
    shares = []
    for example, chances in judged:
        admitted = chances >= floor
        kept[example.is_own].append(float(example.tokens @ admitted))
        found[example.is_own].append(float(example.tokens.sum()))
        if example.is_evidence.any():
            shares.append(float(admitted[example.is_evidence].mean()))
    tokens: Mapping[bool, float] = {own: sum(kept[own]) / max(sum(found[own]), 1.0) for own in (True, False)}
    return FloorFigures(sum(shares) / max(len(shares), 1), tokens[True], tokens[False])
