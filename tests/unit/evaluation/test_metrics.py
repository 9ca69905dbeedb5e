"""The measures by hand-made rankings whose scores can be counted on fingers."""

import math

import pytest

from lithify.evaluation.metrics import first_places, fraction, mean, mean_scores, ndcg, percentile, score_ranking

PAIR = frozenset({"a", "b"})


def test_fraction_counts_each_piece_of_evidence_once() -> None:
    assert fraction(["a", "a", "x"], PAIR) == 0.5
    assert fraction(["b", "a"], PAIR) == 1.0
    assert fraction([], PAIR) == 0.0


def test_only_the_first_k_count() -> None:
    ranked = ["x", "a", "y", "z", "w", "b"]
    assert score_ranking(ranked, PAIR, 1) == {"fraction": 0.0, "any": 0.0, "all": 0.0, "ndcg": 0.0}
    at_five = score_ranking(ranked, PAIR, 5)
    assert (at_five["fraction"], at_five["any"], at_five["all"]) == (0.5, 1.0, 0.0)
    assert score_ranking(ranked, PAIR, 10)["all"] == 1.0


def test_all_means_all() -> None:
    trio = frozenset({"a", "b", "c"})
    assert score_ranking(["a", "b", "x"], trio, 5)["all"] == 0.0
    assert score_ranking(["a", "b", "c"], trio, 5)["all"] == 1.0


def test_ndcg_is_one_for_the_best_order_and_falls_with_the_place() -> None:
    assert ndcg(["b", "a", "x"], PAIR, 5) == pytest.approx(1.0)
    third = (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3))
    assert ndcg(["a", "x", "b"], PAIR, 5) == pytest.approx(third)


def test_ndcg_does_not_punish_evidence_that_cannot_fit() -> None:
    assert ndcg(["a"], frozenset({"a", "b", "c"}), 1) == pytest.approx(1.0)


def test_ndcg_gains_nothing_from_repeating_a_hit() -> None:
    assert ndcg(["x", "a", "a"], PAIR, 3) == ndcg(["x", "a", "y"], PAIR, 3)


def test_means_are_over_questions_not_over_evidence() -> None:
    scores = mean_scores([(["a"], frozenset({"a"})), (["x"], frozenset({"a", "b", "c"}))])
    assert scores["fraction"] == {"1": 0.5, "5": 0.5, "10": 0.5, "20": 0.5}
    assert scores["any"]["1"] == scores["all"]["1"] == 0.5


def test_a_session_stands_where_its_best_turn_stands() -> None:
    homes = {"a1": "a", "a2": "a", "b1": "b"}
    assert first_places(["b1", "a2", "unknown", "a1"], homes) == ["b", "a"]


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert (percentile(values, 0.5), percentile(values, 0.95)) == (50.0, 95.0)
    assert percentile([7.0], 0.5) == 7.0


def test_nothing_measured_is_nought() -> None:
    assert mean([]) == percentile([], 0.5) == 0.0
