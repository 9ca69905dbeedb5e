"""Memories and dated documents fade (specs 02 and 10)."""

import math
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.candidate import SCOPE_RATES
from lithify.memory.ranking.recency import age_seconds, date_in_path, decay_factor, recency
from tests.unit.memory.candidate_samples import NOW


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


TODAY = date(2024, 9, 1)


def factor(age_days: int) -> float:
    return decay_factor(TODAY - timedelta(days=age_days), TODAY)


@pytest.mark.parametrize(("age_days", "expected"), [(0, 1.0), (7, 0.8506672), (30, 0.5), (90, 0.125), (148, 0.0327279)])
def test_decay_of_the_worked_ages(age_days: int, expected: float) -> None:
    """spec 10.8"""
    assert factor(age_days) == pytest.approx(expected, abs=1e-6)


def test_a_fresh_document_overtakes_a_better_old_one() -> None:
    """spec 10.8"""
    old, fresh = 0.91 * factor(148), 0.80 * factor(7)
    assert old == pytest.approx(0.0297824, abs=1e-6)
    assert fresh == pytest.approx(0.6805337, abs=1e-6)


@pytest.mark.parametrize("path", ["MEMORY.md", "topics/tea.md", "notes/2024-13-41.md", "build-12024-08-110.md", ""])
def test_undated_documents_are_evergreen(path: str) -> None:
    """spec 10.8"""
    assert date_in_path(path) is None
    assert decay_factor(date_in_path(path), TODAY) == 1.0


@pytest.mark.parametrize(
    ("path", "dated"),
    [
        ("memory/2024-08-11.md", date(2024, 8, 11)),
        ("2023-01-02/notes-2024-08-11-evening.md", date(2024, 8, 11)),
        ("2024-08-11/draft-2024-99-99.md", date(2024, 8, 11)),
    ],
)
def test_the_last_real_date_of_the_path_counts(path: str, dated: date) -> None:
    assert date_in_path(path) == dated


def test_a_future_date_does_not_raise_the_score() -> None:
    assert decay_factor(TODAY + timedelta(days=9), TODAY) == 1.0


@pytest.mark.parametrize("half_life", [0.0, -1.0, float("nan")])
def test_a_half_life_that_is_not_positive_is_refused(half_life: float) -> None:
    with pytest.raises(ValueError, match="positive number of days"):
        decay_factor(TODAY, TODAY, half_life)


@settings(max_examples=200, deadline=None)
@given(st.dates(), st.dates(), st.floats(0.001, 1e6))
def test_decay_is_bounded_and_never_favours_the_older(one: date, other: date, half_life: float) -> None:
    older, newer = sorted((one, other))
    assert 0.0 <= decay_factor(older, TODAY, half_life) <= decay_factor(newer, TODAY, half_life) <= 1.0
