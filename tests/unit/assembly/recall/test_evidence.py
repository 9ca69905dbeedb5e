"""Records are judged by themselves and by the core: what a deeper search adds changes nothing about the others."""

import numpy as np
import pytest

from lithify.assembly.recall.evidence import NAMES, Judge, Material, judge_records
from lithify.memory.ranking.helpfulness import Calibration
from lithify.memory.ranking.passages import Neighbours

JUDGE = Judge(Calibration((10.0, 3.0, -0.7, -3.0), (2.0, 1.5, -1.0)), size=50, nearest=0.6)
WEIGHTS = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0]])
COSINES = np.array([0.5, 0.3, 0.0, 0.4])
# Each record is followed by the next.
FOLLOWING: Neighbours = [(0.5, np.array([1, 2, 3, 4], dtype=np.intp))]
ALL = np.ones(4, dtype=np.bool_)
HALF = np.array([True, True, False, False])


def test_what_a_deeper_search_adds_changes_no_earlier_judgement() -> None:
    shallow = Material(WEIGHTS[:, :2], COSINES[:2], ALL[:2])
    few = judge_records(shallow, [(0.5, np.array([1, 2], dtype=np.intp))], JUDGE)
    many = judge_records(Material(WEIGHTS, COSINES, HALF), FOLLOWING, JUDGE)
    assert many.memory == few.memory
    for name in NAMES:
        assert many.columns[name][:2] == pytest.approx(few.columns[name])


def test_the_best_passage_of_the_core_tells_what_the_memory_knows() -> None:
    alone = judge_records(Material(WEIGHTS, COSINES, ALL), [], JUDGE).memory
    together = judge_records(Material(WEIGHTS, COSINES, ALL), FOLLOWING, JUDGE).memory
    assert alone is not None
    assert together is not None
    assert (alone.nearest, alone.size) == (together.nearest, together.size) == (0.6, 50)
    assert together.covered > alone.covered


def test_without_a_judge_nothing_is_said() -> None:
    judgement = judge_records(Material(WEIGHTS, COSINES, ALL), FOLLOWING, None)
    assert judgement == ({name: [None] * 4 for name in NAMES}, None)


def test_without_vectors_the_words_decide() -> None:
    columns = judge_records(Material(WEIGHTS, np.zeros(4), ALL), FOLLOWING, JUDGE._replace(nearest=0.0)).columns
    assert columns["cosine"] == [0.0] * 4
    assert columns["helpful"][3] > columns["helpful"][1]  # type: ignore[operator] # both are judged


def test_nothing_found_is_judged_as_nothing() -> None:
    empty = Material(np.zeros((2, 0)), np.zeros(0), np.zeros(0, dtype=np.bool_))
    assert judge_records(empty, [], JUDGE) == ({name: [] for name in NAMES}, None)
