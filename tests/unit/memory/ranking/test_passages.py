"""A turn is judged with the turns around it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.passages import (
    ALONE,
    AROUND,
    Window,
    find_neighbours,
    passage_cosines,
    passage_words,
    rarity,
    session_priors,
    spread_cosines,
)


def test_the_best_passage_vouches_for_its_session() -> None:
    priors = session_priors(np.array([0.2, 0.8, 0.4, 0.9]), ["s", "s", "t", None])
    assert priors == pytest.approx([1.0, 1.0, 0.5, None])


def test_a_list_without_sessions_has_no_priors() -> None:
    assert session_priors(np.array([0.5]), [None]) == [None]
    assert session_priors(np.array([]), []) == []


WINDOW = Window(before=(0.5,), after=(0.2,))


TALK = [("ada", "s", 1), ("ada", "s", 2), ("ada", "s", 3)]


def test_shares_are_named_by_their_distance() -> None:
    assert Window(before=(0.7, 0.5), after=(0.4,)).shares == {-1: 0.7, -2: 0.5, 1: 0.4}
    assert ALONE.shares == {}


def test_the_word_of_a_neighbour_counts_by_its_share() -> None:
    words = passage_words(np.array([[4.0, 0.0, 0.0]]), find_neighbours(TALK, WINDOW))
    assert words.tolist() == [4.0, 2.0, 0.0]


def test_a_later_turn_lends_its_words_too() -> None:
    words = passage_words(np.array([[0.0, 0.0, 10.0]]), find_neighbours(TALK, WINDOW))
    assert words.tolist() == [0.0, 2.0, 10.0]


def test_a_word_repeated_around_a_turn_counts_once() -> None:
    words = passage_words(np.array([[4.0, 4.0, 4.0], [0.0, 3.0, 0.0]]), find_neighbours(TALK, WINDOW))
    assert words.tolist() == pytest.approx([4.6, 7.0, 5.5])


@pytest.mark.parametrize("other", [("ada", "t", 2), ("bob", "s", 2), ("ada", "s", 4), None])
def test_other_sessions_users_and_gaps_lend_nothing(other: tuple[str, str, int] | None) -> None:
    words = passage_words(np.array([[4.0, 0.0]]), find_neighbours([TALK[0], other], WINDOW))
    assert words.tolist() == [4.0, 0.0]


def test_the_order_of_the_list_does_not_matter() -> None:
    words = passage_words(np.array([[0.0, 4.0, 0.0]]), find_neighbours([TALK[2], TALK[0], TALK[1]], WINDOW))
    assert words.tolist() == [0.0, 4.0, 2.0]


def test_a_word_everybody_says_weighs_less_than_a_rare_one() -> None:
    common, rare, unsaid = rarity(np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]))
    assert 0.0 < common < rare < unsaid
    assert rare == pytest.approx(math.log(1 + 2.5 / 1.5))


def test_the_meaning_of_a_passage_is_that_of_its_mean_vector() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    cosines = passage_cosines(vectors, [2.0, 0.0], find_neighbours(TALK, WINDOW))
    assert cosines == pytest.approx([1 / math.hypot(1, 0.2), 0.5 / math.hypot(0.5, 1), 0.0])


def test_without_neighbours_a_passage_is_its_record() -> None:
    vectors = np.array([[0.6, 0.8], [1.0, 0.0]])
    assert passage_cosines(vectors, [1.0, 0.0], find_neighbours([None, None], AROUND)) == pytest.approx([0.6, 1.0])
    assert passage_cosines(vectors, [1.0, 0.0], find_neighbours(TALK[:2], ALONE)) == pytest.approx([0.6, 1.0])


def test_a_record_without_any_vector_means_nothing() -> None:
    assert passage_cosines(np.zeros((1, 2)), [1.0, 0.0], find_neighbours([None], AROUND)).tolist() == [0.0]


def test_a_narrow_band_of_cosines_is_widened() -> None:
    assert spread_cosines([0.5, 0.75, 0.6]) == pytest.approx([0.025 / 0.275, 1.0, 0.125 / 0.275])


def test_the_only_member_of_a_list_keeps_its_rank() -> None:
    assert spread_cosines([0.4]) == pytest.approx([1.0])


def test_a_list_without_likeness_has_none() -> None:
    assert spread_cosines([-0.2, 0.0]).tolist() == [0.0, 0.0]
    assert spread_cosines([]).tolist() == []


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.floats(0, 9), st.floats(0, 9)), max_size=8),
    shares=st.lists(st.floats(0, 1), max_size=3),
)
def test_neighbours_only_add_words_and_never_more_than_the_best(
    rows: list[tuple[int, float, float]], shares: list[float]
) -> None:
    weights = np.array([[row[1] for row in rows], [row[2] for row in rows]]).reshape(2, len(rows))
    places = [("u", "s", row[0]) for row in rows]
    words = passage_words(weights, find_neighbours(places, Window(tuple(shares), tuple(shares))))
    assert (words >= weights.sum(axis=0)).all()
    assert (words <= weights.max(axis=1, initial=0.0).sum() + 1e-9).all()
