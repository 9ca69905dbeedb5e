"""Judges absolutely what was found for a question: the chance that a record helps does not depend on what else came.

Which words are rare, and what the memory knows at all, is read from the core, which every search begins with.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lithify.memory.bounds import BoolArray, FloatArray
from lithify.memory.ranking.helpfulness import (
    Calibration,
    MemoryEvidence,
    answerable_chance,
    coverage_of,
    helpful_chances,
    word_shares,
)
from lithify.memory.ranking.passages import Neighbours

Column = Sequence[float | None]
NAMES = ("cosine", "coverage", "answerable", "helpful")


@dataclass(frozen=True, slots=True)
class Material:
    """Holds what the records of a search are judged by, a column for each of them."""

    weights: FloatArray  # a row for each word of the question
    cosines: FloatArray  # all 0 if the question could not be embedded
    in_core: BoolArray


class Judge(NamedTuple):
    """Says by which constants records are judged, and what is known of the memory, or the part that was searched."""

    calibration: Calibration
    size: int  # how many records it has
    nearest: float = 0.0  # the best cosine of any of them


class Judgement(NamedTuple):
    """Holds the absolute columns of the signals; where nobody judged, they are empty and nothing is known."""

    columns: dict[str, Column]
    memory: MemoryEvidence | None = None


def judge_records(material: Material, neighbours: Neighbours, judge: Judge | None) -> Judgement:
    """Judges every record by itself, and the memory by the passages of the core."""
    count = len(material.in_core)
    if judge is None or count == 0:
        return Judgement({name: [None] * count for name in NAMES})
    shares = word_shares(material.weights[:, material.in_core])
    coverage = coverage_of(shares, material.weights)
    passages = coverage_of(shares, material.weights, confine_neighbours(neighbours, material.in_core))
    covered = float(passages[material.in_core].max(initial=0.0))
    memory = MemoryEvidence(judge.nearest, covered, judge.size)
    answerable = answerable_chance(judge.calibration, memory)
    chances = helpful_chances(judge.calibration, material.cosines, coverage, answerable)
    columns = (material.cosines.tolist(), coverage.tolist(), [answerable] * count, chances.tolist())
    return Judgement(dict(zip(NAMES, columns, strict=True)), memory)


def confine_neighbours(neighbours: Neighbours, inside: BoolArray) -> Neighbours:
    """Leaves out neighbours that a shallower search would not have read."""
    if inside.all():
        return neighbours
    known = np.append(inside, False)
    nobody = len(inside)
    return [(share, np.where(known[positions], positions, nobody)) for share, positions in neighbours]
