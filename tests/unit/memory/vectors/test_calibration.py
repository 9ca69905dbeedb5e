"""A threshold keeps what it promises on the questions it was derived from, and is honest where none can."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.errors import Invalid
from lithify.memory.vectors.calibration import (
    MIN_EXITS,
    NEVER,
    TierSample,
    fit_threshold,
    judge_threshold,
    sample_tier,
)

samples_of = st.lists(
    st.builds(TierSample, best=st.floats(-1, 1), overlap=st.sampled_from((0.0, 0.5, 0.9, 1.0))), min_size=1, max_size=80
)


def ramp(good: int, poor: int) -> list[TierSample]:
    """The better the best score, the better the answer."""
    return [TierSample(0.9 - n / 1000, 1.0) for n in range(good)] + [TierSample(0.5, 0.0) for _ in range(poor)]


def test_the_lowest_threshold_that_keeps_the_target_is_taken() -> None:
    fit = fit_threshold(ramp(good=49, poor=50), target=0.98)
    assert fit.threshold == pytest.approx(0.852)
    assert fit.exits == pytest.approx(49 / 99)
    assert (fit.overlap, fit.false_positives) == (1.0, 0.0)


def test_a_tier_that_never_keeps_the_target_is_never_left_from() -> None:
    fit = fit_threshold([TierSample(0.9, 0.5)] * 100, target=0.98)
    assert (fit.threshold, fit.exits, fit.overlap, fit.false_positives) == (NEVER, 0.0, None, 0.0)


def test_a_handful_of_questions_is_no_evidence() -> None:
    assert fit_threshold(ramp(good=MIN_EXITS - 1, poor=50), target=0.98).threshold == NEVER
    with pytest.raises(Invalid, match="no questions"):
        fit_threshold([], target=0.98)


def test_false_positives_are_the_poor_questions_that_exit() -> None:
    samples = [TierSample(0.9, 1.0), TierSample(0.8, 0.2), TierSample(0.3, 0.4), TierSample(0.2, 1.0)]
    fit = judge_threshold(samples, threshold=0.8, target=0.97)
    assert fit.overlap == pytest.approx(0.6)
    assert (fit.exits, fit.false_positives) == (0.5, 0.5)


@settings(max_examples=200, deadline=None)
@given(samples=samples_of, target=st.floats(0.5, 1.0))
def test_whatever_exits_keeps_the_target(samples: list[TierSample], target: float) -> None:
    fit = fit_threshold(samples, target)
    exits = [sample.overlap for sample in samples if sample.best >= fit.threshold]
    assert fit.exits == pytest.approx(len(exits) / len(samples))
    if fit.threshold < NEVER:
        assert len(exits) >= MIN_EXITS
        assert np.mean(exits) >= target - 1e-9


def test_all_components_agree_with_themselves() -> None:
    random = np.random.default_rng(1)
    documents, questions = random.normal(size=(50, 8)), random.normal(size=(5, 8))
    assert [sample.overlap for sample in sample_tier(documents, questions, 8, limit=5, depth=5)] == [1.0] * 5


def test_a_prefix_is_judged_after_its_candidates_were_ranked_anew() -> None:
    documents = np.array([[1, 0, 0, 5], [1, 0.1, 0, 0], [0.9, 0.3, 0, 0]], np.float64)
    question = np.array([[1.0, 0, 0, 0]])
    [narrow] = sample_tier(documents, question, 2, limit=1, depth=1)
    [wide] = sample_tier(documents, question, 2, limit=1, depth=2)
    assert (narrow.overlap, wide.overlap) == (0.0, 1.0)
    assert narrow.best == pytest.approx(1.0)
