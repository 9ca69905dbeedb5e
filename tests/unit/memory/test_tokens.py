"""The token estimator (spec 02) and its calibration."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.tokens import TokenSample, calibrate_tokens, estimate_tokens

samples = st.builds(
    TokenSample,
    st.sampled_from(["english", "thai"]),
    st.text(min_size=1, max_size=50),
    st.integers(1, 60),
)


def test_a_row_measures_one_script() -> None:
    (row,) = calibrate_tokens(
        [
            TokenSample("english", "x" * 40, 8),  # estimated 10
            TokenSample("english", "x" * 40, 20, unknown=7),  # estimated 10: half of it missed
        ]
    )
    assert (row.script, row.texts, row.characters, row.tokens, row.estimated) == ("english", 2, 80, 28, 20)
    assert row.chi_used == 4.0
    assert row.chi_mean == pytest.approx(3.5)
    assert row.chi_low == pytest.approx(2.0 + 0.05 * 3.0)
    assert (row.undercounted_share, row.worst_shortfall) == (0.5, 0.5)
    assert row.unknown_share == pytest.approx(0.25)
    assert row.estimate_ratio == pytest.approx(20 / 28)


def test_the_assumed_ratio_is_that_of_the_texts() -> None:
    (row,) = calibrate_tokens([TokenSample("mixed", "東京", 2), TokenSample("mixed", "tea", 1)])
    assert row.chi_used == pytest.approx((1.6 + 4.0) / 2)


def test_rows_come_in_order_of_first_appearance() -> None:
    rows = calibrate_tokens([TokenSample("thai", "a", 1), TokenSample("english", "a", 1), TokenSample("thai", "b", 1)])
    assert [(row.script, row.texts) for row in rows] == [("thai", 2), ("english", 1)]
    assert calibrate_tokens([]) == ()


@pytest.mark.parametrize(("tokens", "unknown"), [(0, 0), (-1, 0), (2, 3), (2, -1)])
def test_impossible_counts_are_refused(tokens: int, unknown: int) -> None:
    with pytest.raises(ValueError, match="a thai sample needs at least one token"):
        TokenSample("thai", "text", tokens, unknown)


@settings(max_examples=200, deadline=None)
@given(st.lists(samples, min_size=1))
def test_shares_are_shares_and_the_low_ratio_is_below_the_mean_of_equals(group: list[TokenSample]) -> None:
    for row in calibrate_tokens(group):
        assert 0.0 <= row.undercounted_share <= 1.0
        assert 0.0 <= row.worst_shortfall < 1.0
        assert (row.worst_shortfall > 0.0) == (row.undercounted_share > 0.0)
        ratios = [len(s.text) / s.tokens for s in group if s.script == row.script]
        assert min(ratios) - 1e-9 <= row.chi_low <= max(ratios) + 1e-9


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("z", 1),
        ("green boats", 3),
        ("東京駅前広場", 4),
        ("Добрый день", 5),
        ("meet at 東京 station at noon", 17),
        ("crème brûlée", 3),
    ],
)
def test_host_estimator_switches_by_script(text: str, tokens: int) -> None:
    """spec 02.9"""
    assert estimate_tokens(text) == tokens
