"""The chance that a record helps is absolute: it grows with nearness and rare words, and falls with the crowd."""

import numpy as np
import pytest

from lithify.memory.ranking.helpfulness import (
    Calibration,
    MemoryEvidence,
    answerable_chance,
    coverage_of,
    helpful_chances,
    is_helpful_enough,
    logistic,
    word_shares,
)

MODEL = Calibration((10.0, 3.0, -0.7, -3.0), (2.0, 1.5, -1.0))


def test_a_word_nobody_said_counts_with_full_rarity() -> None:
    said = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    common, rare, unknown = word_shares(said)
    assert common < rare < unknown
    assert common + rare + unknown == pytest.approx(1.0)
    # The first record says all that anybody here ever said, and still covers less than half of the question.
    assert coverage_of(word_shares(said), said)[0] == pytest.approx(common + rare)


def test_a_question_without_words_is_covered_by_nothing() -> None:
    nothing = np.zeros((0, 3))
    assert coverage_of(word_shares(nothing), nothing).tolist() == [0.0, 0.0, 0.0]


def test_neighbours_lend_their_words_in_part() -> None:
    said = np.array([[2.0, 0.0], [0.0, 3.0]])
    shares = np.array([0.25, 0.75])
    previous = [(0.5, np.array([2, 0], dtype=np.intp))]  # the first record has nobody before it
    assert coverage_of(shares, said).tolist() == [0.25, 0.75]
    assert coverage_of(shares, said, previous).tolist() == [0.25, 0.875]


def test_the_best_of_many_has_to_be_nearer_than_the_best_of_few() -> None:
    chances = [answerable_chance(MODEL, MemoryEvidence(0.4, 0.2, size)) for size in (1, 10, 1000)]
    assert chances == sorted(chances, reverse=True)
    assert answerable_chance(MODEL, MemoryEvidence(0.4, 0.2, 0)) == chances[0]


def test_a_record_helps_at_most_as_likely_as_its_memory_knows() -> None:
    near, far = helpful_chances(MODEL, np.array([0.9, 0.1]), np.array([1.0, 0.0]), 0.5)
    assert 0.0 < far < near < 0.5


@pytest.mark.parametrize("value", [-1e4, -1.0, 0.0, 1.0, 1e4])
def test_log_odds_of_any_size_are_a_probability(value: float) -> None:
    assert 0.0 <= logistic(value) <= 1.0
    assert logistic(value) + logistic(-value) == pytest.approx(1.0)
    assert not np.isnan(logistic(value))


def test_without_a_chance_or_a_floor_nothing_is_too_weak() -> None:
    assert is_helpful_enough(None, 0.9)
    assert is_helpful_enough(0.0, None)
    assert is_helpful_enough(0.08, 0.08)
    assert not is_helpful_enough(0.079, 0.08)
