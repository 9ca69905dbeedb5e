"""Expressions that tie a text to a time (spec 09)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.temporal.query import anchor_density, find_anchors


@pytest.mark.parametrize(
    ("text", "density"),
    [
        ("Boiler broke 4/2, plumber came April 9th at 8:15 am", 1.0),
        ("The visa came on 5/20", 0.3333333),
        ("Moved in on 2024-08-11.", 0.3333333),
        ("Nothing happened here", 0.0),
        ("in the middle of nowhere", 0.0),
    ],
)
def test_anchor_density_of_the_worked_texts(text: str, density: float) -> None:
    """spec 09.3"""
    assert anchor_density(text) == pytest.approx(density, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("at midnight in mid-June, mid-summer, mid May", {"mid-june", "mid-summer", "mid may"}),
        ("Sept. 3rd, 2021 or 3/4/21 or 3/4/2021", {"sept. 3rd, 2021", "3/4/21", "3/4/2021"}),
        ("in April 2019", {"2019"}),
        ("Last  Saturday and next friday, then Friday", {"last saturday", "next friday", "friday"}),
        ("today, TODAY, yesterday", {"today", "yesterday"}),
        ("2024-08-11T08:15:30 logged 1719830400123", {"2024-08-11", "08:15", "1719830400123"}),
        ("order 20240 costs 19.99, path 1/2/3/4, 123456789", set()),
    ],
)
def test_each_expression_is_one_anchor(text: str, anchors: set[str]) -> None:
    assert find_anchors(text) == anchors


@settings(max_examples=200, deadline=None)
@given(st.text(), st.sampled_from(["4/2", "Monday", "2024-08-11", "today", "8:15 am", "in 1999", "nothing"]))
def test_anchor_density_is_bounded_and_grows_with_the_text(text: str, more: str) -> None:
    assert 0.0 <= anchor_density(text) <= anchor_density(f"{text}\n\n{more}") <= 1.0
