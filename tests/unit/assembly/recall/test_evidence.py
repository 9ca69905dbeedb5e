"""A record is judged on the first level that holds it: what deeper ones add changes nothing about it."""

import numpy as np
import pytest

from lithify.assembly.recall.evidence import NAMES, Judge, Material, judge_records
from lithify.memory.ranking.helpfulness import Calibration
from lithify.memory.ranking.passages import Neighbours

JUDGE = Judge(Calibration((10.0, 3.0, -0.7, -3.0), (2.0, 1.0, 1.5, 0.5, -1.0)), size=50, nearest=0.6)
WEIGHTS = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0]])
VECTORS = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.8, 0.6]])
QUERY = np.array([1.0, 0.0])
# Each record is followed by the next.
FOLLOWING: Neighbours = [(0.5, np.array([1, 2, 3, 4], dtype=np.intp))]


def test_what_a_deeper_search_adds_changes_no_earlier_judgement() -> None:
    shallow = Material(WEIGHTS[:, :2], VECTORS[:2], QUERY, [0, 0])
    deep = Material(WEIGHTS, VECTORS, QUERY, [0, 0, 1, 1])
    few = judge_records(shallow, [(0.5, np.array([1, 2], dtype=np.intp))], JUDGE)
    many = judge_records(deep, FOLLOWING, JUDGE)
    for name in NAMES:
        assert many[name][:2] == pytest.approx(few[name])


def test_later_levels_see_the_earlier_ones() -> None:
    alone = judge_records(Material(WEIGHTS, VECTORS, QUERY, [0, 0, 1, 1]), [], JUDGE)
    together = judge_records(Material(WEIGHTS, VECTORS, QUERY, [0, 0, 1, 1]), FOLLOWING, JUDGE)
    assert together["passage_cosine"][2] != pytest.approx(alone["passage_cosine"][2])


def test_without_a_judge_nothing_is_said() -> None:
    columns = judge_records(Material(WEIGHTS, VECTORS, QUERY, [0] * 4), FOLLOWING, None)
    assert columns == {name: [None] * 4 for name in NAMES}


def test_without_vectors_the_words_decide() -> None:
    columns = judge_records(Material(WEIGHTS, None, None, [0] * 4), FOLLOWING, JUDGE._replace(nearest=0.0))
    assert columns["cosine"] == [0.0] * 4
    assert columns["helpful"][3] > columns["helpful"][1]  # type: ignore[operator] # both are judged


def test_nothing_found_is_judged_as_nothing() -> None:
    empty = Material(np.zeros((2, 0)), np.zeros((0, 2)), QUERY, [])
    assert judge_records(empty, [], JUDGE) == {name: [] for name in NAMES}
