"""Numbers stay inside their domains, whatever comes in."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.bounds import clamp01, convex, is_number, number_or


@pytest.mark.parametrize("value", [None, "1", True, math.nan, math.inf, -math.inf, 10**400, [], b"1"])
def test_only_finite_numbers_are_numbers(value: object) -> None:
    assert not is_number(value)
    assert number_or(value, 0.5) == 0.5
    assert clamp01(value) == 0.0


@settings(max_examples=200)
@given(st.lists(st.floats() | st.integers(), min_size=3, max_size=3))
def test_convex_weights_are_shares_of_one(weights: list[float]) -> None:
    shares = convex(weights, (0.7, 0.2, 0.1))
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert math.isclose(math.fsum(shares), 1.0)
