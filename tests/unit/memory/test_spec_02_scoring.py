"""Spec 02: the hybrid score, its components and its weights."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.authority import quality
from lithify.memory.ranking.candidate import SCOPE_RATES, Candidate, Kind, Scope
from lithify.memory.ranking.profile import SEED, HybridWeights, Profile
from lithify.memory.ranking.recency import age_seconds, recency
from lithify.memory.ranking.scoring import hybrid_score, rank_key, rank_order, score_hybrid
from tests.unit.memory.candidate_samples import NOW, PROFILES, candidate, wild_candidates, wild_numbers

PURE_SIMILARITY = replace(SEED, hybrid=HybridWeights(1.0, 0.0, 0.0))


def score(memory: Candidate, profile: Profile = SEED) -> float:
    return score_hybrid([memory], profile, NOW)[0].score


def test_a_strong_global_match_outranks_a_weak_session_match() -> None:
    """spec 02.1"""
    session = candidate("s", 0.6, age_s=0)
    shared = candidate("g", 0.95, age_s=10, scope=Scope.GLOBAL)
    ranked = score_hybrid([session, shared], SEED, NOW)
    assert [row.candidate.id for row in ranked] == ["g", "s"]
    assert [row.score for row in ranked] == pytest.approx([0.894996, 0.72], abs=1e-6)


def test_ages_count_in_seconds_at_the_rate_of_their_scope() -> None:
    """spec 02.2"""
    assert score(candidate(dense=0.8, age_s=3600, scope=Scope.USER)) == pytest.approx(0.8129281, abs=1e-6)
    assert score(candidate(dense=0.5, age_s=345600, scope=Scope.GLOBAL)) == pytest.approx(0.4801949, abs=1e-6)


def test_summaries_rank_below_raw_turns_by_their_decay() -> None:
    """spec 02.3"""
    raw = candidate("raw", 0.9, age_s=0, decay_rate=0.9)  # the decay of a raw turn is ignored
    good = candidate("good", 0.9, age_s=0, kind=Kind.SUMMARY, decay_rate=0.1)
    poor = candidate("poor", 0.9, age_s=0, kind=Kind.SUMMARY, decay_rate=0.9)
    ranked = score_hybrid([poor, good, raw], SEED, NOW)
    assert [row.candidate.id for row in ranked] == ["raw", "good", "poor"]
    assert [row.score for row in ranked] == pytest.approx([0.93, 0.8835, 0.5115], abs=1e-6)


@pytest.mark.parametrize(("decay", "expected"), [(0.0, 1.0), (0.2, 0.9), (1.0, 0.5)])
def test_pure_similarity_leaves_only_quality(decay: float, expected: float) -> None:
    """spec 02.4"""
    summary = candidate(dense=1.0, kind=Kind.SUMMARY, decay_rate=decay)
    assert score(summary, PURE_SIMILARITY) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("confidence", "expected"), [(0.82, 0.728), (0.34, 0.536)])
def test_confidence_of_a_summary_reaches_its_score(confidence: float, expected: float) -> None:
    """spec 02.5"""
    summary = candidate(dense=0.8, kind=Kind.SUMMARY, decay_rate=1.0 - confidence)
    assert score(summary, PURE_SIMILARITY) == pytest.approx(expected, abs=1e-6)


def test_dropping_similarity_renormalises_the_other_weights() -> None:
    """spec 02.6"""
    profile = replace(SEED, hybrid=HybridWeights(0.0, 0.2, 0.1)).normalise()
    assert profile.hybrid == pytest.approx((0.0, 2 / 3, 1 / 3), abs=1e-6)
    assert score(candidate(age_s=3600), profile) == pytest.approx(0.7984509, abs=1e-6)


def test_weights_are_clamped_before_they_are_renormalised() -> None:
    """spec 02.7"""
    assert HybridWeights(10, 0.2, 0.1).normalise() == pytest.approx((0.769231, 0.153846, 0.076923), abs=1e-6)
    assert HybridWeights(0, 0, 0).normalise() == (0.7, 0.2, 0.1)
    assert HybridWeights(math.nan, math.inf, math.nan).normalise() == (0.7, 0.2, 0.1)
    wild = replace(SEED, hybrid=HybridWeights(10, 10, 10), delta=2.0).normalise()
    assert wild.delta == 1.0
    assert score(candidate(dense=5.0, age_s=0, kind=Kind.SUMMARY, decay_rate=0.5), wild) == pytest.approx(0.5)


def test_a_negative_similarity_counts_as_none() -> None:
    """spec 02.8"""
    assert score(candidate(dense=-0.8), PURE_SIMILARITY) == 0.0


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=200, deadline=None)
@given(candidates=wild_candidates())
def test_every_input_gives_finite_scores_in_the_unit_interval(profile: Profile, candidates: list[Candidate]) -> None:
    """spec 02.13 (bounds): for any numbers whatsoever."""
    rows = score_hybrid(candidates, profile, NOW)
    assert len(rows) == len(candidates)
    assert all(0.0 <= number <= 1.0 for row in rows for number in row[1:])
    assert all(row.quality >= 1.0 - profile.delta for row in rows)


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=200, deadline=None)
@given(
    similarity=st.tuples(st.floats(-1, 1), st.floats(-1, 1)).map(sorted),
    ages=st.tuples(st.floats(0, 1e8), st.floats(0, 1e8)).map(sorted),
    decays=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    scope=st.sampled_from(Scope),
)
def test_score_never_falls_with_similarity_recency_or_confidence(
    profile: Profile, similarity: list[float], ages: list[float], decays: list[float], scope: Scope
) -> None:
    """spec 02.13 (monotonicity)"""

    def at(dense: float, age_s: float, decay: float) -> float:
        memory = candidate(dense=dense, age_s=age_s, scope=scope, kind=Kind.SUMMARY, decay_rate=decay)
        return score(memory, profile)

    least = at(similarity[0], ages[1], decays[1])
    assert at(similarity[1], ages[1], decays[1]) >= least
    assert at(similarity[0], ages[0], decays[1]) >= least
    assert at(similarity[0], ages[1], decays[0]) >= least


@settings(max_examples=200, deadline=None)
@given(weights=st.tuples(wild_numbers(), wild_numbers(), wild_numbers()), delta=wild_numbers())
def test_normalised_weights_are_convex(weights: tuple[float, float, float], delta: float) -> None:
    profile = replace(SEED, hybrid=HybridWeights(*weights), delta=delta).normalise()
    assert math.isclose(sum(profile.hybrid), 1.0, abs_tol=1e-12)
    assert all(0.0 <= weight <= 1.0 for weight in (*profile.hybrid, profile.delta))


def test_half_lives_follow_from_the_rates() -> None:
    for rate, half_life in (
        (SCOPE_RATES.session, 6931.47),
        (SCOPE_RATES.user, 69314.7),
        (SCOPE_RATES.shared, 346573.6),
    ):
        assert float(recency(half_life, rate)) == pytest.approx(0.5, abs=1e-6)


def test_future_and_unknown_times_are_new() -> None:
    assert age_seconds([NOW + 5000.0, None, math.nan], NOW).tolist() == [0.0, 0.0, 0.0]
    assert float(recency(1e9, -1.0)) == 1.0


def test_quality_of_a_worthless_summary_is_zero_at_full_weight() -> None:
    assert float(quality(1.0, 1.0)) == 0.0
    assert float(quality(1.0, 0.0)) == 1.0


def test_hybrid_score_works_on_plain_numbers() -> None:
    assert float(hybrid_score(0.6, 1.0, 1.0, 1.0, HybridWeights())) == pytest.approx(0.72)


def test_ties_fall_to_similarity_then_id() -> None:
    tied = [candidate(name) for name in ("c", "b", "a", "z")]
    scores = np.array([0.5, 0.5, 0.5, 0.5])
    similarities = np.array([0.1, 0.1, 0.1, 0.2])
    assert rank_order(scores, similarities, tied).tolist() == [3, 2, 1, 0]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from((0.0, 0.5, 1.0)), st.floats(0, 1)), max_size=12))
def test_fast_order_equals_the_order_of_the_keys(numbers: list[tuple[float, float]]) -> None:
    candidates = [candidate(f"{i:02d}") for i in range(len(numbers))][::-1]
    scores = np.array([score for score, _ in numbers])
    similarities = np.array([similarity for _, similarity in numbers])
    expected = sorted(range(len(numbers)), key=lambda i: rank_key(*numbers[i], candidates[i].id))
    assert rank_order(scores, similarities, candidates).tolist() == expected


def test_no_candidates_give_no_ranking() -> None:
    assert score_hybrid([], SEED, NOW) == []
