"""The adaptive fusion: names are found by words, prose by words and meaning, and one list alone by itself."""

import pytest

from lithify.docs.query import DocQuery, Leg, LegWeights
from lithify.docs.ranking import MEANING, RARE, fuse_legs, rank_scores, relatedness_above, scale_words, weigh_legs
from lithify.docs.terms import QuestionTerms
from lithify.memory.ranking.fusion import Fused

LEVEL = 0.5
PROSE = QuestionTerms(plain=4)
NAME = QuestionTerms(("read_level",))
MIXED = QuestionTerms(("read_level",), plain=4)
AWAY = Leg(absent="away")


def leg(**scores: float) -> Leg:
    return Leg(rank_scores(scores))


def fuse(terms: QuestionTerms, lexical: Leg, vector: Leg, limit: int = 6) -> tuple[Fused, ...]:
    return fuse_legs(DocQuery("x", limit=limit), lexical, vector, terms, weigh_legs(terms, lexical, vector, LEVEL))


def keys(fused: tuple[Fused, ...]) -> list[str]:
    return [one.key for one in fused]


def test_the_more_names_a_question_has_the_less_meaning_counts() -> None:
    weights = [weigh_legs(terms, Leg(), Leg(), LEVEL) for terms in (PROSE, MIXED, NAME)]
    assert [one.meaning for one in weights] == pytest.approx([MEANING, MEANING / 2, 0.0])
    assert all(one.words + one.meaning == pytest.approx(1.0) for one in weights)


@pytest.mark.parametrize("terms", [PROSE, NAME])
def test_a_list_that_cannot_be_had_leaves_all_to_the_other(terms: QuestionTerms) -> None:
    assert weigh_legs(terms, Leg(), AWAY, LEVEL) == LegWeights(1.0, 0.0, LEVEL)
    assert weigh_legs(terms, AWAY, Leg(), LEVEL) == LegWeights(0.0, 1.0, LEVEL)
    scores = leg(a=0.9, b=0.7)
    assert keys(fuse(terms, scores, AWAY)) == keys(fuse(terms, AWAY, scores)) == ["a", "b"]


def test_where_a_name_is_no_nearness_outweighs_it() -> None:
    """By ranks, `near` would win: it is first by meaning, and not last by words."""
    words = leg(named=4 * RARE, near=0.5)
    meaning = leg(near=0.95, other=0.9)
    assert keys(fuse(NAME, words, meaning))[0] == "named"
    assert keys(fuse(MIXED, words, meaning))[0] == "named"


def test_common_words_give_way_to_meaning() -> None:
    """The one question of the shipped benchmark that words miss is of this kind."""
    words = leg(chance=0.35 * RARE * 4, more_chance=0.3 * RARE * 4)
    meaning = leg(meant=0.85, chance=0.55, more_chance=0.5)
    assert keys(fuse(PROSE, words, meaning))[0] == "meant"


def test_a_piece_that_holds_the_question_leads_even_if_others_are_nearer() -> None:
    words = leg(quote=0.95 * RARE * 4, part=0.4 * RARE * 4)
    meaning = leg(near=0.8, quote=0.7, part=0.7)
    assert keys(fuse(PROSE, words, meaning))[0] == "quote"


def test_where_words_find_nothing_meaning_answers_though_it_weighs_nothing() -> None:
    assert keys(fuse(NAME, Leg(), leg(near=0.9, far=0.6))) == ["near", "far"]


def test_a_piece_that_is_not_embedded_yet_is_not_taken_for_unrelated() -> None:
    [new, old] = fuse(PROSE, leg(new=20.0, old=19.0), leg(old=0.8))
    assert (new.key, new.vector, new.vector_rank) == ("new", old.vector, None)


def test_what_a_cut_list_of_words_leaves_out_counts_as_its_last() -> None:
    cut = leg(**{f"k{i}": 10.0 + i for i in range(4)})
    [out] = [one for one in fuse(PROSE, cut, leg(out=0.9), limit=1) if one.key == "out"]
    assert out.lexical == pytest.approx(scale_words(10.0, PROSE))
    [out] = [one for one in fuse(PROSE, cut, leg(out=0.9), limit=2) if one.key == "out"]
    assert out.lexical == 0.0


def test_no_more_candidates_are_kept_than_a_list_was_asked_for() -> None:
    words = leg(**{f"w{i:03}": float(i) for i in range(40)})
    meaning = leg(**{f"m{i:03}": i / 100 for i in range(40)})
    assert len(fuse(PROSE, words, meaning, limit=10)) == 40


def test_scales_are_absolute_whatever_else_was_found() -> None:
    assert scale_words(RARE * 4, PROSE) == 1.0
    assert scale_words(RARE * 2, PROSE) == 0.25
    assert scale_words(0.0, QuestionTerms()) == 0.0
    assert relatedness_above(LEVEL, LEVEL) == relatedness_above(0.1, LEVEL) == 0.0
    assert relatedness_above(1.0, LEVEL) == 1.0
    assert relatedness_above(1.0, 1.0) == 0.0


def test_other_fusions_are_as_they_were() -> None:
    words, meaning = leg(a=9.0, b=3.0), leg(b=0.9, a=0.2)
    ranks = fuse_legs(DocQuery("x", fusion="rrf"), words, meaning, PROSE, None)
    assert [one.score for one in ranks] == pytest.approx([1 / 61 + 1 / 62] * 2)
    weighted = fuse_legs(DocQuery("x", fusion="weighted"), words, meaning, PROSE, None)
    assert keys(weighted) == ["b", "a"]
    assert [one.score for one in weighted] == pytest.approx([0.85, 0.4555556])
