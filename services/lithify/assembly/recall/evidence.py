"""Judges absolutely what was found for a question: the chance that a record helps does not depend on what else came.

A record is judged on the first level of the search that holds it, so that a deeper search finds more, but thinks the
same of what the shallower one found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lithify.memory.bounds import FloatArray
from lithify.memory.ranking.helpfulness import (
    Calibration,
    QuestionEvidence,
    answerable_chance,
    coverage_of,
    helpful_chances,
    word_shares,
)
from lithify.memory.ranking.passages import Neighbours, passage_cosines
from lithify.store import Vector

Column = Sequence[float | None]
NAMES = ("cosine", "passage_cosine", "coverage", "passage_coverage", "answerable", "helpful")


@dataclass(frozen=True, slots=True)
class Material:
    """Holds what the records of a search are judged by, a column for each of them."""

    weights: FloatArray  # a row for each word of the question
    vectors: FloatArray | None  # a row for each record; None if the question could not be embedded
    query: Vector | None
    levels: Sequence[int]  # the first level of the search that holds the record


class Judge(NamedTuple):
    """Says by which constants records are judged, and what is known of the memory, or the part that was searched."""

    calibration: Calibration
    size: int  # how many records it has
    nearest: float = 0.0  # the best cosine of any of them


def judge_records(material: Material, neighbours: Neighbours, judge: Judge | None) -> dict[str, Column]:
    """Returns the absolute columns of the signals; empty ones where nobody judges."""
    levels = np.array(material.levels, dtype=np.intp)
    if judge is None or levels.size == 0:
        return {name: [None] * len(levels) for name in NAMES}
    shares = word_shares(material.weights[:, levels == 0])
    first = gather_evidence(material, confine_neighbours(neighbours, levels == 0), shares)
    covered = float(first.passage_coverage[levels == 0].max(initial=0.0))
    answerable = answerable_chance(judge.calibration, judge.nearest, covered, judge.size)
    rows = first.rows
    for level in range(1, int(levels.max()) + 1):
        found = gather_evidence(material, confine_neighbours(neighbours, levels <= level), shares)
        rows[:, levels == level] = found.rows[:, levels == level]
    chances = helpful_chances(judge.calibration, QuestionEvidence(*rows), answerable)
    columns: list[Column] = [*rows.tolist(), [answerable] * len(levels), chances]
    return dict(zip(NAMES, columns, strict=True))


def gather_evidence(material: Material, neighbours: Neighbours, shares: FloatArray) -> QuestionEvidence:
    alone, together = cosines_of(material, []), cosines_of(material, neighbours)
    covered = coverage_of(shares, material.weights)
    return QuestionEvidence(alone, together, covered, coverage_of(shares, material.weights, neighbours))


def cosines_of(material: Material, neighbours: Neighbours) -> FloatArray:
    if material.vectors is None or material.query is None:
        return np.zeros(material.weights.shape[1])
    return passage_cosines(material.vectors, material.query, neighbours)


def confine_neighbours(neighbours: Neighbours, inside: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Neighbours:
    """Leaves out neighbours that a shallower search would not have read."""
    known = np.append(inside, False)
    nobody = len(inside)
    return [(share, np.where(known[positions], positions, nobody)) for share, positions in neighbours]
