"""The extractive summariser: what it keeps, how sure it is, and its cap."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.compaction.extractive import extract, keep_count
from lithify.memory.tokens import estimate_tokens

PLANE = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]


def test_most_central_turns_are_kept_in_order() -> None:
    """spec 05.4"""
    result = extract([" first ", "second", "third"], PLANE, density=2 / 3)
    assert (result.text, result.kept) == ("first second", (0, 1))
    assert result.confidence == pytest.approx(0.8944272, abs=1e-6)


def test_order_of_the_summary_is_that_of_the_turns_not_of_the_rank() -> None:
    """spec 05.4"""
    result = extract(["off", "near", "odd", "nearest"], [[0, 1], [2, 1], [-1, 0], [3, 2]], density=0.5)
    assert (result.text, result.kept) == ("near nearest", (1, 3))


@pytest.mark.parametrize(("n", "density", "kept"), [(2, 0.4, 1), (3, 0.4, 2), (5, 0.4, 2), (20, 0.4, 8), (20, 0.25, 5)])
def test_kept_counts(n: int, density: float, kept: int) -> None:
    """spec 05.4"""
    assert keep_count(n, density) == kept
    assert len(extract(["x"] * n, np.ones((n, 2)), density).kept) == kept


def test_density_outside_its_domain_means_the_default() -> None:
    assert [keep_count(20, rho) for rho in (0.0, -1.0, 1.5, math.nan, math.inf)] == [8] * 5
    assert keep_count(20, 1.0) == 20


def test_binary_rounding_keeps_no_extra_turn() -> None:
    assert keep_count(25, 0.28) == 7


def test_over_the_cap_the_least_central_turns_go_first() -> None:
    """X26"""
    texts = ["a" * 40, "b" * 40, "c" * 40]
    result = extract(texts, [[1, 0.2], [1, 0], [1, 0.9]], density=1.0, max_tokens=21)
    assert result.kept == (0, 1)
    assert result.text == f"{'a' * 40} {'b' * 40}"


def test_last_turn_over_the_cap_is_cut_at_a_sentence_end() -> None:
    """X26"""
    text = "One is 3.5 long. Two follows! Three would be far too much for the cap."
    assert extract([text], [[1.0]], max_tokens=9).text == "One is 3.5 long. Two follows!"
    assert extract([text], [[1.0]], max_tokens=3).text == "One is 3.5"
    assert extract(["x" * 50], [[1.0]], max_tokens=3).text == "x" * 12
    assert extract(["今日は晴れ。明日は雨です"], [[1.0]], max_tokens=5).text == "今日は晴れ。"


def test_zero_vectors_give_zero_confidence_not_nan() -> None:
    result = extract(["a", "b", "c"], np.zeros((3, 4)))
    assert (result.confidence, result.kept) == (0.0, (0, 1))


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="2 texts but 3 vectors"):
        extract(["a", "b"], PLANE)
    with pytest.raises(ValueError, match="one vector per text"):
        extract([], [])
    with pytest.raises(ValueError, match="at least one output token"):
        extract(["a"], [[1.0]], max_tokens=0)


ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.text(max_size=80), st.tuples(ANY_FLOAT, ANY_FLOAT)), min_size=1, max_size=8),
    st.floats(),
    st.none() | st.integers(1, 30),
)
def test_extract_stays_within_bounds_for_any_vectors(
    rows: list[tuple[str, tuple[float, float]]], density: float, cap: int | None
) -> None:
    """spec 05.18"""
    texts = [text for text, _ in rows]
    result = extract(texts, np.array([vector for _, vector in rows]), density, cap)
    assert 0.0 <= result.confidence <= 1.0
    assert 1 <= len(result.kept) <= len(texts)
    assert list(result.kept) == sorted(set(result.kept))
    assert cap is None or estimate_tokens(result.text) <= cap
    if cap is None:
        assert len(result.kept) == keep_count(len(texts), density)
