"""Maximal marginal relevance."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.duplicates import Passage, diversify, jaccard, relative_relevance

BACKUPS = [
    Passage("1", "Rotated backup tapes", 0.95),
    Passage("2", "Rotated backup tapes", 0.93),
    Passage("3", "Rotated backup tapes", 0.91),
    Passage("4", "Renewed TLS certificate", 0.85),
    Passage("5", "Offsite backup plan", 0.82),
]

short_texts = st.text("ab ", max_size=6)
passages = st.lists(st.builds(Passage, st.uuids().map(str), short_texts, st.floats(0.0, 1.0)), max_size=8)


def test_diversity_of_the_worked_passages() -> None:
    """spec 10.9"""
    picks = diversify(BACKUPS, limit=5)
    assert [pick.key for pick in picks] == ["1", "4", "5", "2", "3"]
    assert [pick.value for pick in picks] == pytest.approx([0.665, 0.595, 0.514, 0.351, 0.337], abs=1e-6)


def test_full_weight_on_relevance_keeps_the_input_order() -> None:
    """spec 10.9"""
    assert [pick.key for pick in diversify(BACKUPS, limit=5, share=1.0)] == ["1", "2", "3", "4", "5"]


def test_ties_keep_the_input_order() -> None:
    equal = [Passage(key, key, 0.5) for key in ("z", "a", "m")]
    assert [pick.key for pick in diversify(equal, limit=3)] == ["z", "a", "m"]


def test_picking_ends_at_the_limit_or_below_the_stop() -> None:
    assert [pick.key for pick in diversify(BACKUPS, limit=2)] == ["1", "4"]
    assert [pick.key for pick in diversify(BACKUPS, limit=5, stop=0.4)] == ["1", "4", "5"]
    assert diversify(BACKUPS, limit=0) == ()


def test_relevance_is_measured_against_the_best_of_the_list() -> None:
    assert relative_relevance([0.4, 0.2, 0.0]) == (1.0, 0.5, 0.0)
    assert relative_relevance([]) == ()
    assert relative_relevance([0.0, -1.0, float("nan")]) == (0.0, 0.0, 0.0)


def test_empty_texts_share_nothing() -> None:
    assert jaccard(frozenset(), frozenset()) == 0.0
    assert jaccard(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)


@settings(max_examples=200, deadline=None)
@given(passages, st.floats())
def test_all_passages_are_kept_once_and_values_only_fall(items: list[Passage], share: float) -> None:
    picks = diversify(items, limit=len(items), share=share)
    values = [pick.value for pick in picks]
    assert sorted(pick.key for pick in picks) == sorted(item.key for item in items)
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(values))
    assert all(-1.0 <= value <= 1.0 for value in values)
