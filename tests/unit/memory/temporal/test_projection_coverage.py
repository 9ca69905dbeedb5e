"""Marginal coverage, the projection score, the recovery set and the greedy selector."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.profile import RECALL, SEED, Profile, TemporalWeights
from lithify.memory.temporal.projection import (
    TemporalCandidate,
    marginal_coverage,
    projection_score,
    recovery_set,
    select_picks,
)
from lithify.memory.temporal.query import Guard, Reason, TemporalQuery

WEIGHTS = TemporalWeights()


BOTH_PROFILES = pytest.mark.parametrize("profile", [SEED, RECALL], ids=["seed", "recall"])


unit = st.floats(0.0, 1.0)


anything = st.floats() | st.just(0.5)


slot_sets = st.frozensets(st.integers(0, 3))


pools = st.lists(
    st.builds(TemporalCandidate, st.uuids().map(str), unit, unit, unit, slot_sets),
    max_size=12,
    unique_by=lambda d: d.key,
)


def question(xi: float = 1.0, slot_count: int = 2) -> TemporalQuery:
    slots = tuple(f"event {i}" for i in range(slot_count))
    return TemporalQuery((), xi, slots, Guard(True, Reason.TWO_EVENTS))


@pytest.mark.parametrize(
    ("xi", "score", "anchors", "gain", "expected"),
    [
        (1.0, 0.60, 0.0, 0.5, 0.46),
        (0.7 / 1.5, 0.60, 0.0, 0.5, 0.5346667),
        (0.0, 0.60, 0.0, 0.5, 0.60),
        (1.0, 1.0, 1.0, 1.0, 1.0),
    ],
)
def test_projection_score_of_the_worked_inputs(
    xi: float, score: float, anchors: float, gain: float, expected: float
) -> None:
    """spec 09.4"""
    assert projection_score(xi, score, anchors, gain, WEIGHTS) == pytest.approx(expected, abs=1e-6)


def test_full_weight_on_the_score_changes_nothing() -> None:
    assert projection_score(1.0, 0.37, 0.9, 1.0, TemporalWeights(1.0, 0.0, 0.0)) == pytest.approx(0.37)


def test_weights_are_clamped_and_renormalised() -> None:
    assert projection_score(1.0, 1.0, 0.0, 0.0, TemporalWeights(5.0, 1.0, 0.0)) == pytest.approx(0.5)
    assert projection_score(1.0, 0.5, 0.0, 0.0, TemporalWeights(0.0, 0.0, 0.0)) == pytest.approx(0.3)


def test_greedy_run_of_the_worked_pool() -> None:
    """spec 09.5"""
    pool = [
        TemporalCandidate("a", 0.9, 0.60, 0.0, frozenset({0})),
        TemporalCandidate("b", 0.9, 0.35, 1 / 3, frozenset({1})),
        TemporalCandidate("c", 0.9, 0.50, 0.0, frozenset({0})),
        TemporalCandidate("d", 0.9, 0.05, 0.0),
    ]
    first = [projection_score(1.0, d.score, d.anchors, len(d.covered) / 2, WEIGHTS) for d in pool]
    picks = select_picks(pool, question(), SEED)
    assert first == pytest.approx([0.46, 0.3766667, 0.40, 0.03], abs=1e-6)
    assert [pick.key for pick in picks] == ["a", "b", "c"]
    assert [pick.sigma for pick in picks] == pytest.approx([0.46, 0.3766667, 0.30], abs=1e-6)


def test_greedy_run_stops_at_the_floor_before_the_limit() -> None:
    """spec 09.5"""
    weak = TemporalCandidate("d", 0.9, 0.05, 0.0)
    assert select_picks([weak], question(), SEED) == ()


def test_equal_values_are_picked_by_score_then_key() -> None:
    twins = [TemporalCandidate(key, 0.5, 0.5, 0.0) for key in ("b", "a")]
    dated = TemporalCandidate("c", 0.5, 0.4, 0.3)
    picks = select_picks([dated, *twins], question(slot_count=0), SEED)
    assert [pick.key for pick in picks] == ["a", "b", "c"]
    assert len({pick.sigma for pick in picks}) == 1


@BOTH_PROFILES
@settings(max_examples=200, deadline=None)
@given(pool=pools, xi=unit, slot_count=st.integers(0, 4))
def test_picks_only_fall_in_value_and_stay_few(
    profile: Profile, pool: list[TemporalCandidate], xi: float, slot_count: int
) -> None:
    """spec 09.6, spec 09.11"""
    picks = select_picks(pool, question(xi, slot_count), profile)
    sigmas = [pick.sigma for pick in picks]
    assert len(picks) <= 3
    assert sigmas == sorted(sigmas, reverse=True)
    assert all(profile.coverage_floor <= sigma <= 1.0 for sigma in sigmas)


@settings(max_examples=200, deadline=None)
@given(slot_sets, st.lists(slot_sets, max_size=4), st.integers(0, 4))
def test_coverage_never_grows_along_a_run(covered: frozenset[int], run: list[frozenset[int]], slots: int) -> None:
    """spec 09.6"""
    seen = [frozenset[int]().union(*run[:n]) for n in range(len(run) + 1)]
    gains = [marginal_coverage(covered, before, slots) for before in seen]
    assert gains == sorted(gains, reverse=True)
    assert all(0.0 <= gain <= 1.0 for gain in gains)


@settings(max_examples=200, deadline=None)
@given(anything, anything, anything, anything, st.builds(TemporalWeights, anything, anything, anything))
def test_projection_score_is_bounded_for_any_input(
    xi: float, score: float, anchors: float, gain: float, weights: TemporalWeights
) -> None:
    """spec 09.6"""
    assert 0.0 <= projection_score(xi, score, anchors, gain, weights) <= 1.0


@settings(max_examples=200, deadline=None)
@given(unit, unit, unit, unit, unit)
def test_projection_score_never_falls_when_a_part_rises(
    xi: float, score: float, anchors: float, gain: float, rise: float
) -> None:
    low = projection_score(xi, score, anchors, gain, WEIGHTS)
    raised = [
        projection_score(xi, max(score, rise), anchors, gain, WEIGHTS),
        projection_score(xi, score, max(anchors, rise), gain, WEIGHTS),
        projection_score(xi, score, anchors, max(gain, rise), WEIGHTS),
    ]
    assert min(raised) >= low - 1e-12


def test_no_more_picks_than_the_second_pass_may_keep() -> None:
    pool = [TemporalCandidate(key, 0.9, 0.9, 0.0) for key in "abc"]
    assert len(select_picks(pool, question(), replace(SEED, k2=2))) == 2


def test_an_anchor_turn_above_the_recovery_floor_is_recovered() -> None:
    """spec 09.7"""
    rest = [TemporalCandidate("in", 0.16, 0.1, 1.0), TemporalCandidate("out", 0.149, 0.1, 1.0)]
    assert [d.key for d in recovery_set(rest, (), SEED)] == ["in"]


def test_recovery_prefers_anchors_then_similarity_then_key() -> None:
    """spec 09.7"""
    rest = [
        TemporalCandidate("undated", 0.9, 0.9, 0.0),
        TemporalCandidate("b", 0.3, 0.1, 1.0),
        TemporalCandidate("a", 0.3, 0.1, 1.0),
        TemporalCandidate("near", 0.4, 0.1, 1.0),
    ]
    assert [d.key for d in recovery_set(rest, (), SEED)] == ["near", "a", "b", "undated"]


@BOTH_PROFILES
@settings(max_examples=200, deadline=None)
@given(rest=pools, chosen=st.sets(st.integers(0, 11)))
def test_the_recovery_set_is_small_and_disjoint(
    profile: Profile, rest: list[TemporalCandidate], chosen: set[int]
) -> None:
    """spec 09.7"""
    survivors = {rest[i].key for i in chosen if i < len(rest)}
    recovered = recovery_set(rest, survivors, profile)
    assert len(recovered) <= 10
    assert survivors.isdisjoint(d.key for d in recovered)
    assert all(d.sim >= profile.recovery_floor for d in recovered)
