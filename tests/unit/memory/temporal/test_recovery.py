"""When recall falls back to raw turns, and what that may cost."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.temporal.projection import TemporalCandidate
from lithify.memory.temporal.recovery import (
    RankedMemory,
    count_matched_phrases,
    guarded_turn_score,
    is_fresh_session,
    order_guarded_turns,
    pack_first_fit,
    raw_turn_score,
    recovery_reserve,
    recovery_trigger,
)


def summaries(*confidences: float) -> list[RankedMemory]:
    return [RankedMemory(0.9, 1, is_summary=True, confidence=c) for c in confidences]


@pytest.mark.parametrize(
    ("ranking", "fires"),
    [
        ([], False),
        ([RankedMemory(0.9, 3)], False),
        ([RankedMemory(0.14, 1)], False),
        ([RankedMemory(0.14, 1), RankedMemory(0.10, 3)], True),
        ([RankedMemory(0.15, 3)], False),
        (summaries(0.4, 0.4, 0.4, 0.4), True),
        (summaries(0.1, 0.1, 0.1), False),
        (summaries(0.5, 0.5, 0.5, 0.5), False),
        (summaries(0.2, 0.8, 0.6, 0.4), False),
        ([*summaries(0.1, 0.1, 0.1), RankedMemory(0.9, 1)], False),
        ([*summaries(0.4, 0.4, 0.4, 0.4), RankedMemory(0.9, 1)], True),
    ],
    ids=["empty", "S1", "S2", "S1+S2", "at the floor", "S3", "three", "mean .5", "mixed .5", "a turn", "top four"],
)
def test_the_trigger_truth_table(ranking: list[RankedMemory], fires: bool) -> None:
    """spec 09.12"""
    assert recovery_trigger(ranking).fires is fires


def test_the_trigger_says_which_signs_it_saw() -> None:
    trigger = recovery_trigger([RankedMemory(0.1, 3)])
    assert (trigger.deep_search, trigger.weak_best, trigger.doubtful_summaries) == (True, True, False)


@pytest.mark.parametrize(("budget", "reserve"), [(100, 16), (500, 50), (2000, 128), (10, 10), (0, 0), (-5, 0)])
def test_the_reserve_of_a_triggered_recovery(budget: int, reserve: int) -> None:
    """spec 09.13"""
    assert recovery_reserve(budget, triggered=True) == reserve


@pytest.mark.parametrize(("budget", "reserve"), [(500, 90), (2000, 231), (20, 20)])
def test_a_comparison_reserves_more(budget: int, reserve: int) -> None:
    """spec 09.13"""
    assert recovery_reserve(budget, triggered=True, comparison=True) == reserve


def test_without_a_trigger_the_projection_keeps_its_whole_budget() -> None:
    """spec 09.13"""
    assert recovery_reserve(2000, triggered=False, comparison=True) == 0


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 100_000), st.booleans())
def test_the_reserve_never_exceeds_the_budget_nor_falls_as_it_grows(budget: int, comparison: bool) -> None:
    reserve = recovery_reserve(budget, True, comparison)
    assert 0 <= reserve <= min(budget, 231)
    assert reserve <= recovery_reserve(budget + 1, True, comparison)


def test_a_session_is_fresh_only_without_turns_and_hits() -> None:
    assert is_fresh_session(0, 0)
    assert not is_fresh_session(1, 0)
    assert not is_fresh_session(0, 1)


def test_raw_turn_score_caps_the_phrase_bonus() -> None:
    assert raw_turn_score(0.5, 0.4, 1.0, 2) == pytest.approx(0.20 * 0.5 + 0.70 * 0.4 + 0.10 + 0.02)
    assert raw_turn_score(0.5, 0.4, 1.0, 99) == pytest.approx(0.48 + 0.04)
    assert raw_turn_score(1.0, 1.0, 1.0, 99) == 1.0


def test_guarded_turn_score_adds_its_bonus_only_when_active() -> None:
    assert guarded_turn_score(0.5, 0.4, 1 / 3, 0.5, active=False) == pytest.approx(0.4416667, abs=1e-6)
    assert guarded_turn_score(0.5, 0.4, 1 / 3, 0.5, active=True) == pytest.approx(0.4916667, abs=1e-6)


@settings(max_examples=200, deadline=None)
@given(st.floats(), st.floats(), st.floats(), st.floats(), st.integers(), st.booleans())
def test_raw_turn_scores_are_bounded_for_any_input(
    a: float, b: float, c: float, d: float, phrases: int, active: bool
) -> None:
    assert 0.0 <= raw_turn_score(a, b, c, phrases) <= 1.0
    assert 0.0 <= guarded_turn_score(a, b, c, d, active) <= 1.0


def test_phrases_are_runs_of_two_to_four_words() -> None:
    assert count_matched_phrases("the old pier", "We met at the OLD pier.") == 3
    assert count_matched_phrases("pier", "pier") == 0
    assert count_matched_phrases("a b c d e", "a b c d e") == 4 + 3 + 2


def test_guarded_turns_come_in_an_order_that_covers_both_events_first() -> None:
    turns = [
        TemporalCandidate("broad", 0.5, 0.50, 0.0, frozenset({0})),
        TemporalCandidate("echo", 0.5, 0.45, 0.0, frozenset({0})),
        TemporalCandidate("other", 0.5, 0.40, 0.0, frozenset({1})),
        TemporalCandidate("late", 0.5, 0.11, 0.0),
        TemporalCandidate("last", 0.5, 0.10, 0.0),
    ]
    orders = {order_guarded_turns(shuffled, 2) for shuffled in permutations(turns)}
    assert orders == {("broad", "other", "echo", "late", "last")}


def test_guarded_turns_below_the_stop_are_still_appended() -> None:
    turns = [TemporalCandidate("a", 0.1, 0.05, 0.0), TemporalCandidate("b", 0.1, 0.11, 0.0)]
    assert order_guarded_turns(turns, 2) == ("b", "a")


def test_first_fit_skips_what_does_not_fit() -> None:
    """spec 02.12"""
    assert pack_first_fit([12, 1, 2], 3, float) == [1, 2]
    assert pack_first_fit([1], float("nan"), float) == []


@settings(max_examples=200, deadline=None)
@given(costs=st.lists(st.integers(1, 50)), budget=st.integers(-5, 300))
def test_first_fit_never_exceeds_the_budget(costs: list[int], budget: int) -> None:
    assert sum(pack_first_fit(costs, budget, float)) <= max(budget, 0)
