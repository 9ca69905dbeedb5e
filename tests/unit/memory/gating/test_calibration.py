"""From scores and labels to a threshold (spec 04 §7)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lithify.memory.gating.calibration import Step, fit_isotonic, histogram, measure_quality, suggest_threshold

labelled = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1)


def test_the_histogram_covers_both_ends() -> None:
    assert histogram([0.0, 0.05, 0.5, 0.999, 1.0], 10) == (2, 0, 0, 0, 0, 1, 0, 0, 0, 2)


def test_violators_are_pooled() -> None:
    steps = fit_isotonic([0.1, 0.2, 0.3, 0.4, 0.5], [False, True, False, True, True])
    assert steps == (Step(0.1, 0.0, 1), Step(0.2, 0.5, 2), Step(0.4, 1.0, 2))


def test_equal_scores_share_a_step() -> None:
    assert fit_isotonic([0.5, 0.5, 0.5, 0.5], [True, False, False, True]) == (Step(0.5, 0.5, 4),)
    assert fit_isotonic([0.2, 0.5, 0.5], [True, False, True]) == (Step(0.2, 2 / 3, 3),)


@given(labelled)
def test_the_fit_rises_and_keeps_the_sum_of_labels(pairs: list[tuple[float, bool]]) -> None:
    scores, labels = [score for score, _ in pairs], [label for _, label in pairs]
    steps = fit_isotonic(scores, labels)
    assert all(lower.share < upper.share and lower.least < upper.least for lower, upper in pairwise(steps))
    assert sum(step.turns for step in steps) == len(pairs)
    assert sum(step.share * step.turns for step in steps) == pytest.approx(sum(labels))


def test_the_suggestion_is_the_lowest_score_that_is_good_enough() -> None:
    steps = (Step(0.1, 0.1, 5), Step(0.4, 0.5, 5), Step(0.6, 0.9, 5))
    assert [suggest_threshold(steps, wanted) for wanted in (0.05, 0.5, 0.8, 0.95)] == [0.1, 0.4, 0.6, None]


def test_quality_is_precision_and_recall() -> None:
    measured = measure_quality([True, True, False, True], [True, False, True, True])
    assert (measured.precision, measured.recall) == pytest.approx((2 / 3, 2 / 3))
    nothing = measure_quality([False], [False])
    assert (nothing.precision, nothing.recall) == (0.0, 0.0)
