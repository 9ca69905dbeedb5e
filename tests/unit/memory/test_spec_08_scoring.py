"""Spec 08: candidates, keywords, authority and the final score."""

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.authority import AuthorityWeights, authored_value, authority_weight, frequency
from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.cues import keywords, words
from lithify.memory.ranking.profile import SEED, Profile
from lithify.memory.ranking.relevance import (
    SIGNAL_NAMES,
    RelevanceWeights,
    Signals,
    relevance,
    scale_by_maximum,
    signals_from_columns,
)
from lithify.memory.ranking.scoring import Scored, coarse_cut, final_score, score_hybrid, score_pass2
from tests.unit.memory.candidate_samples import NOW, PROFILES, candidate, texts, wild_candidates, wild_numbers

ONLY_AUTHORED = replace(SEED, authority=AuthorityWeights(0.0, 0.0, 1.0))
QUERY = ("lexer", "cache")
FULL, HALF, NONE = "the lexer cache", "the lexer", "nothing of it"


def scored(memory: Candidate, profile: Profile = SEED, max_access: float = 0.0) -> Scored:
    return score_pass2([memory], QUERY, profile, NOW, max_access)[0]


def test_full_keyword_coverage_reaches_the_ceiling() -> None:
    """spec 08.1"""
    full = candidate(dense=0.8, text=FULL, kind=Kind.AUTHORED)
    none = candidate(dense=0.8, text=NONE, kind=Kind.AUTHORED)
    assert scored(full, ONLY_AUTHORED).score == pytest.approx(0.8, abs=1e-6)
    assert scored(none, ONLY_AUTHORED).score == pytest.approx(0.6153846, abs=1e-6)


def test_authored_text_outranks_a_closer_plain_memory() -> None:
    """spec 08.2"""
    authored = candidate("a", 0.78, age_s=0, text=FULL, kind=Kind.AUTHORED)
    plain = candidate("p", 0.95, age_s=0, text=FULL)
    first, second = score_pass2([plain, authored], QUERY, SEED, NOW, 0)
    assert first.candidate.id == "a"
    assert [first.weight, first.score] == pytest.approx([0.8, 0.624], abs=1e-6)
    assert [second.weight, second.score] == pytest.approx([0.5, 0.475], abs=1e-6)


def test_frequent_use_counts_by_its_logarithm() -> None:
    """spec 08.3"""
    assert float(frequency(3, 7)) == pytest.approx(0.6309298, abs=1e-6)
    assert float(frequency(7, 7)) == pytest.approx(0.9463946, abs=1e-6)
    assert float(frequency(0, 0)) == 0.0
    row = scored(candidate(dense=0.72, age_s=3600, text=HALF, access_count=3), max_access=7)
    assert row.weight == pytest.approx(0.6085061, abs=1e-6)
    assert row.coverage == 0.5
    assert row.score == pytest.approx(0.3875716, abs=1e-6)


def test_a_summary_pays_for_its_lost_confidence() -> None:
    """spec 08.4"""
    summary = candidate(dense=0.9, age_s=0, text=HALF, kind=Kind.SUMMARY, decay_rate=1 - 0.82)
    assert scored(summary).score == pytest.approx(0.36225, abs=1e-6)
    assert scored(replace(summary, kind=Kind.TURN)).score == pytest.approx(0.3980769, abs=1e-6)


def test_keywords_are_literal_words_of_three_letters_or_more() -> None:
    """spec 08.5"""
    found = keywords("Where does the lexer store its cache?")
    assert found == ("where", "does", "the", "lexer", "store", "its", "cache")
    text = "Note: the lexer keeps cache_dir in its own folder"
    [covering] = score_pass2([candidate(text=text)], found, SEED, NOW, 0)
    assert covering.coverage == pytest.approx(0.4285714, abs=1e-6)
    assert keywords("!!") == ()
    row = score_pass2([candidate(dense=0.9, age_s=0)], (), SEED, NOW, 0)[0]
    assert row.coverage == 0.0
    assert row.score == pytest.approx(0.5 * 0.9 / 1.3)


def test_other_scripts_have_words_too() -> None:
    assert keywords("Où est l'été à Köln? ab") == ("est", "été", "köln")
    assert keywords("東京駅 café") == ("東京", "京駅", "café")
    assert keywords("茶 ab東京cde") == ("東京", "cde")
    assert words("茶 ab東京c_1") == ["茶", "ab", "東京", "c_1"]
    assert keywords("Добрый день, мир и я") == ("добрый", "день", "мир")
    assert keywords("cache CACHE Cache_1 x2") == ("cache", "cache_1")


@settings(max_examples=200, deadline=None)
@given(query=texts(), text=texts())
def test_coverage_is_the_share_of_the_keywords_in_the_text(query: str, text: str) -> None:
    found = keywords(query)
    [row] = score_pass2([candidate(text=text)], found, SEED, NOW, 0)
    assert row.coverage == sum(word in words(text) for word in found) / max(len(found), 1)


def test_the_floor_applies_after_the_cut() -> None:
    """spec 08.6"""
    assert coarse_cut([candidate(dense=0.19)], SEED) == []
    assert len(coarse_cut([candidate(dense=0.20)], SEED)) == 1
    many = [candidate(f"r{i:02d}", 0.9 + 0.001 * i) for i in range(17)]
    kept = coarse_cut(many, SEED)
    assert [c.id for c in kept] == [f"r{i:02d}" for i in range(16, 0, -1)]
    assert [c.id for c in coarse_cut([*many[:16], candidate("low", 0.1)], SEED)] == [c.id for c in many[15::-1]]


def test_a_negative_floor_admits_negative_similarities_in_order() -> None:
    profile = replace(SEED, similarity_floor=-0.5)
    memories = [candidate("far", -0.6), candidate("near", -0.1), candidate("mid", -0.4), candidate("none", math.nan)]
    assert [c.id for c in coarse_cut(memories, profile)] == ["none", "near", "mid"]


def test_authority_weights_of_zero_fall_back_to_their_own_defaults() -> None:
    """spec 08.13"""
    assert AuthorityWeights(0, 0, 0).normalise() == (0.5, 0.2, 0.3)
    assert replace(SEED, authority=AuthorityWeights(-1, 0, math.nan)).normalise().authority == (0.0, 0.0, 1.0)


@settings(max_examples=200, deadline=None)
@given(
    sim=st.floats(-1, 1),
    age_s=st.floats(0, 1e7),
    count=st.integers(0, 20),
    authored=st.booleans(),
    decay=st.floats(0, 1),
)
def test_without_quality_the_score_is_the_plain_product(
    sim: float, age_s: float, count: int, authored: bool, decay: float
) -> None:
    """spec 08.16"""
    profile = replace(SEED, apply_quality=False)
    kind = Kind.AUTHORED if authored else Kind.SUMMARY
    row = scored(
        candidate(dense=sim, age_s=age_s, text=HALF, kind=kind, decay_rate=decay, access_count=count), profile, 20
    )
    used = math.log(1 + count) / math.log(1 + 20 + 1)
    weight = 0.5 * math.exp(-1e-5 * age_s) + 0.2 * used + 0.3 * authored
    assert row.quality == 1.0
    assert row.score == pytest.approx(weight * max(sim, 0.0) * (1 + 0.3 * 0.5) / 1.3, abs=1e-6)


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=200, deadline=None)
@given(candidates=wild_candidates(), max_access=wild_numbers(), now=st.floats(0, 1e14), query=texts())
def test_every_component_is_finite_and_in_the_unit_interval(
    profile: Profile, candidates: list[Candidate], max_access: float, now: float, query: str
) -> None:
    ranking = score_pass2(candidates, keywords(query), profile, now, max_access)
    assert {row.candidate.id for row in ranking} == {c.id for c in candidates}
    assert all(0.0 <= number <= 1.0 for row in ranking for number in row[1:])
    assert [row.score for row in ranking] == sorted((row.score for row in ranking), reverse=True)


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=200, deadline=None)
@given(candidates=wild_candidates(), seed=st.randoms(use_true_random=False))
def test_ranking_does_not_depend_on_the_order_of_its_input(
    profile: Profile, candidates: list[Candidate], seed: Random
) -> None:
    shuffled = list(candidates)
    seed.shuffle(shuffled)
    one, other = (score_pass2(c, QUERY, profile, NOW, 9) for c in (candidates, shuffled))
    assert one == other
    assert coarse_cut(candidates, profile) == coarse_cut(shuffled, profile)


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=200, deadline=None)
@given(
    dense=st.tuples(st.floats(-1, 1), st.floats(-1, 1)).map(sorted),
    decay=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    counts=st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted),
)
def test_score_grows_with_relevance_words_confidence_and_use(
    profile: Profile, dense: list[float], decay: list[float], counts: list[int]
) -> None:
    def at(sim: float, text: str, lost: float, used: int) -> float:
        memory = candidate(dense=sim, text=text, kind=Kind.SUMMARY, decay_rate=lost, access_count=used)
        return scored(memory, profile, max_access=30).score

    least = at(dense[0], NONE, decay[1], counts[0])
    assert at(dense[1], NONE, decay[1], counts[0]) >= least
    assert at(dense[0], FULL, decay[1], counts[0]) >= least
    assert at(dense[0], NONE, decay[0], counts[0]) >= least
    assert at(dense[0], NONE, decay[1], counts[1]) >= least


def test_a_stale_maximum_never_lifts_frequency_above_one() -> None:
    assert float(frequency([50.0], 3.0)[0]) < 1.0
    assert frequency([-4.0, math.inf], math.nan).tolist() == [0.0, 0.0]


def test_declared_authority_comes_before_authorship() -> None:
    assert authored_value([0.4, 7.0, None, None, math.nan], [1, 0, 1, 0, 1]).tolist() == [0.4, 1.0, 1.0, 0.0, 1.0]


def test_authority_weight_is_a_mean_of_its_parts() -> None:
    assert float(authority_weight(1.0, 0.0, 1.0, AuthorityWeights())) == pytest.approx(0.8)


@settings(max_examples=200, deadline=None)
@given(kappa=st.floats(0, 1e308), covered=wild_numbers(), mixed=wild_numbers(), weight=wild_numbers())
def test_final_score_is_bounded_for_any_keyword_weight(
    kappa: float, covered: float, mixed: float, weight: float
) -> None:
    assert 0.0 <= float(final_score(mixed, weight, covered, 1.0, kappa)) <= 1.0


def relevance_of(signals: Sequence[float], weights: RelevanceWeights) -> float:
    return float(relevance([[signal] for signal in signals], weights)[0])


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=200, deadline=None)
@given(signals=st.tuples(*[wild_numbers() | st.floats(-1, 1)] * len(RelevanceWeights._fields)))
def test_relevance_is_convex_in_its_signals(profile: Profile, signals: tuple[float, ...]) -> None:
    mixed = relevance_of(signals, profile.relevance)
    clean = [min(max(s, 0.0), 1.0) if math.isfinite(s) else 0.0 for s in signals if not math.isnan(s)]
    assert min(clean, default=0.0) - 1e-12 <= mixed <= max(clean, default=0.0) + 1e-12
    assert 0.0 <= mixed <= 1.0


def test_relevance_of_the_seed_is_the_bare_cosine() -> None:
    others = [1.0] * (len(RelevanceWeights._fields) - 1)
    assert relevance_of([0.37, *others], SEED.relevance) == 0.37
    assert relevance_of([-0.37, *others], SEED.relevance) == 0.0
    assert relevance_of([math.nan, *others], SEED.relevance) == 0.0
    assert RelevanceWeights(*[0.0] * len(RelevanceWeights._fields)).normalise() == RelevanceWeights()


def test_a_signal_a_record_cannot_have_leaves_its_weight_to_the_others() -> None:
    weights = RelevanceWeights(dense=0.5, lexical=0.25, session=0.25)
    known, unknown = [0.8, 0.2, 0.6], [0.8, 0.2, math.nan]
    rest = [0.0] * (len(weights) - 3)
    assert relevance_of([*known, *rest], weights) == pytest.approx(0.6)
    assert relevance_of([*unknown, *rest], weights) == pytest.approx((0.5 * 0.8 + 0.25 * 0.2) / 0.75)


@pytest.mark.parametrize("name", RelevanceWeights._fields)
def test_every_signal_of_a_candidate_reaches_its_weight(name: str) -> None:
    weights = RelevanceWeights(**{**dict.fromkeys(RelevanceWeights._fields, 0.0), name: 1.0})
    memory = Candidate("r", "", Scope.USER, Kind.TURN, Signals(**{name: 0.7}))
    [row] = score_hybrid([memory], replace(SEED, relevance=weights), NOW)
    assert row.relevance == 0.7


def test_every_signal_but_the_share_of_the_neighbours_has_a_weight() -> None:
    assert set(SIGNAL_NAMES) - set(RelevanceWeights._fields) == {"neighbours"}
    assert set(RelevanceWeights._fields) <= set(SIGNAL_NAMES)


def test_signals_are_built_from_columns_by_name() -> None:
    columns: dict[str, list[float | None]] = {name: [float(n), None] for n, name in enumerate(SIGNAL_NAMES)}
    first, second = signals_from_columns(dict(reversed(columns.items())))
    assert first.by_name() == {name: float(n) for n, name in enumerate(SIGNAL_NAMES)}
    assert set(second.by_name().values()) == {None}
    with pytest.raises(KeyError, match="dated"):
        signals_from_columns({name: column for name, column in columns.items() if name != "dated"})


def test_scores_are_spread_by_the_maximum_of_their_list() -> None:
    assert scale_by_maximum([2.0, 4.0, -1.0, math.nan]).tolist() == [0.5, 1.0, 0.0, 0.0]
    assert scale_by_maximum([0.6, 0.8, 0.7], floor=0.6) == pytest.approx([0.0, 1.0, 0.5])
    assert scale_by_maximum([]).tolist() == []
    assert scale_by_maximum([-3.0, 0.0]).tolist() == [0.0, 0.0]
    assert scale_by_maximum([0.6, 0.6], floor=0.6).tolist() == [0.0, 0.0]
