"""Two result lists become one ranking or a shortlist (spec 10 §5)."""

from datetime import date
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.duplicates import Passage, diversify, relative_relevance
from lithify.memory.ranking.fusion import (
    Fused,
    RankedHit,
    ScaledList,
    fuse_ranks,
    fuse_scaled,
    fuse_weighted,
    relative_scores,
    shortlist,
)
from lithify.memory.ranking.recency import date_in_path, decay_factor


def test_a_record_good_in_both_lists_beats_the_best_of_one() -> None:
    assert shortlist({"a": 0.8, "b": 0.6}, {"b": 9.0, "c": 12.0}, 3) == ["b", "a", "c"]


def test_ties_go_by_id_and_the_size_is_kept() -> None:
    assert shortlist({"b": 1.0, "a": 1.0, "c": 0.5}, {}, 2) == ["a", "b"]
    assert shortlist({}, {}, 2) == []


def test_scores_are_relative_to_the_best_of_their_list() -> None:
    assert relative_scores({"a": 4.0, "b": -1.0}) == {"a": 1.0, "b": 0.0}


hit_lists = st.lists(st.builds(RankedHit, st.sampled_from("abcdefgh"), st.floats(-1.0, 1.0)), max_size=10)


def hits(*keys: str) -> list[RankedHit]:
    """In the given order, best first."""
    return [RankedHit(key, 1.0 - place / 100) for place, key in enumerate(keys)]


def scores(fused: tuple[Fused, ...]) -> dict[str, float]:
    return {f.key: f.score for f in fused}


def scaled(hits: list[RankedHit], *, is_cut: bool = True) -> ScaledList:
    """On a scale that squares what is above 0."""
    return ScaledList(hits, lambda score: max(score, 0.0) ** 2, is_cut)


def test_rank_fusion_of_the_worked_ranks() -> None:
    """spec 10.6"""
    both_first = fuse_ranks(hits("a"), hits("a"))
    first_and_third = fuse_ranks(hits("a"), hits("x", "y", "a"))
    only_second = fuse_ranks(hits("x", "a"), [])
    assert scores(both_first)["a"] == pytest.approx(0.0327869, abs=1e-6)
    assert scores(first_and_third)["a"] == pytest.approx(0.0322665, abs=1e-6)
    assert scores(only_second)["a"] == pytest.approx(0.0161290, abs=1e-6)


@settings(max_examples=200, deadline=None)
@given(hit_lists, hit_lists, st.randoms())
def test_fusion_does_not_depend_on_the_order_of_its_input(
    lexical: list[RankedHit], vector: list[RankedHit], random: Random
) -> None:
    """spec 10.6"""
    ranks, weighted = fuse_ranks(lexical, vector), fuse_weighted(lexical, vector)
    mixed = fuse_scaled(scaled(lexical), scaled(vector), (0.5, 0.5))
    random.shuffle(lexical)
    random.shuffle(vector)
    assert fuse_scaled(scaled(lexical), scaled(vector), (0.5, 0.5)) == mixed
    assert fuse_ranks(lexical, vector) == ranks
    assert fuse_weighted(lexical, vector) == weighted


def test_equal_rank_scores_go_to_the_better_lexical_rank_then_to_the_key() -> None:
    crossed = fuse_ranks(hits("b", "a"), hits("a", "b"))
    assert [f.key for f in crossed] == ["b", "a"]
    apart = fuse_ranks(hits("z"), hits("a"))
    assert [f.key for f in apart] == ["z", "a"]
    equal_hits = [RankedHit("z", 0.5), RankedHit("a", 0.5)]
    assert [f.key for f in fuse_ranks(equal_hits, [])] == ["a", "z"]


def test_rank_fusion_keeps_the_best_twenty() -> None:
    many = hits(*(f"k{i:02}" for i in range(30)))
    assert [f.key for f in fuse_ranks(many, [])] == [f"k{i:02}" for i in range(20)]


def test_a_repeated_key_keeps_its_best_place() -> None:
    fused = fuse_ranks([RankedHit("a", 0.9), RankedHit("b", 0.8), RankedHit("a", 0.1)], [])
    assert [(f.key, f.lexical_rank) for f in fused] == [("a", 1), ("b", 2)]


def test_weighted_fusion_of_the_worked_lists() -> None:
    """spec 10.7"""
    vector = [RankedHit("A", 0.90), RankedHit("B", 0.45), RankedHit("C", 0.30)]
    fused = fuse_weighted(hits("C", "D", "A"), vector)
    assert [f.key for f in fused] == ["A", "C", "B", "D"]
    assert [f.score for f in fused] == pytest.approx([0.8, 0.5333333, 0.35, 0.15], abs=1e-6)


def test_the_eleventh_lexical_hit_keeps_an_eleventh() -> None:
    """spec 10.7"""
    lexical = hits(*(f"k{i:02}" for i in range(11)))
    last = fuse_weighted(lexical, [])[-1]
    assert last.key == "k10"
    assert last.lexical == pytest.approx(0.0909091, abs=1e-6)


@pytest.mark.parametrize("cosine", [0.0, -0.4, float("nan")])
def test_cosines_without_a_positive_one_contribute_nothing(cosine: float) -> None:
    """spec 10.7"""
    fused = fuse_weighted(hits("a"), [RankedHit("a", cosine), RankedHit("b", cosine)])
    assert scores(fused) == {"a": pytest.approx(0.3), "b": 0.0}


def test_an_unavailable_list_leaves_the_whole_weight_to_the_other() -> None:
    vector = [RankedHit("a", 0.8), RankedHit("b", 0.4)]
    assert scores(fuse_weighted(None, vector)) == {"a": 1.0, "b": 0.5}
    assert scores(fuse_weighted(hits("a", "b"), None)) == {"a": 1.0, "b": 0.5}
    assert fuse_weighted(None, None) == ()


def test_an_empty_list_is_an_answer_and_keeps_its_weight() -> None:
    assert scores(fuse_weighted([], [RankedHit("a", 0.8)])) == {"a": pytest.approx(0.7)}


def test_scaled_scores_are_mixed_and_keep_the_places_of_their_lists() -> None:
    lexical = [RankedHit("a", 0.5), RankedHit("b", -0.1), RankedHit("c", -0.2)]
    fused = fuse_scaled(scaled(lexical), scaled([RankedHit("b", 1.0)], is_cut=False), (0.4, 0.6))
    assert [(f.key, f.score, f.lexical_rank, f.vector_rank) for f in fused] == [
        ("b", pytest.approx(0.4), 2, 1),
        ("a", pytest.approx(0.15), 1, None),
        ("c", 0.0, 3, None),
    ]


def test_what_a_cut_list_does_not_hold_counts_as_its_last() -> None:
    lists = [RankedHit("a", 1.0), RankedHit("b", 0.5)], [RankedHit("c", 1.0)]
    cut = fuse_scaled(scaled(lists[0]), scaled(lists[1]), (0.5, 0.5))
    whole = fuse_scaled(scaled(lists[0], is_cut=False), scaled(lists[1], is_cut=False), (0.5, 0.5))
    assert scores(cut) == pytest.approx({"a": 1.0, "b": 0.625, "c": 0.625})
    assert scores(whole) == pytest.approx({"a": 0.5, "b": 0.125, "c": 0.5})
    assert fuse_scaled(scaled([]), scaled([]), (0.5, 0.5)) == ()


def test_weights_are_clamped_and_renormalised() -> None:
    fused = fuse_weighted(hits("t"), [RankedHit("v", 0.8)], weights=(9.0, 1.0))
    assert scores(fused) == {"t": pytest.approx(0.5), "v": pytest.approx(0.5)}


@settings(max_examples=200, deadline=None)
@given(hit_lists | st.none(), hit_lists | st.none(), st.tuples(st.floats(), st.floats()))
def test_weighted_scores_are_bounded_and_every_key_survives(
    lexical: list[RankedHit] | None, vector: list[RankedHit] | None, weights: tuple[float, float]
) -> None:
    fused = fuse_weighted(lexical, vector, weights)
    assert all(0.0 <= f.score <= 1.0 + 1e-12 for f in fused)
    assert {f.key for f in fused} == {hit.key for hit in [*(lexical or []), *(vector or [])]}


@settings(max_examples=200, deadline=None)
@given(st.sets(st.sampled_from("abcdefgh"), min_size=1), hit_lists)
def test_keyword_only_hits_survive_the_whole_pipeline(keywords: set[str], vector: list[RankedHit]) -> None:
    """spec 10.10"""
    fused = fuse_weighted(hits(*sorted(keywords)), vector)
    today = date(2024, 9, 1)
    decayed = [f.score * decay_factor(date_in_path(f"notes/2024-08-0{1 + i}.md"), today) for i, f in enumerate(fused)]
    relevance = relative_relevance(decayed)
    passages = [Passage(f.key, f"note {f.key}", rel) for f, rel in zip(fused, relevance, strict=True)]
    picked = {pick.key for pick in diversify(passages, limit=len(passages))}
    assert keywords <= picked
    assert all(rel > 0.0 for f, rel in zip(fused, relevance, strict=True) if f.key in keywords)
