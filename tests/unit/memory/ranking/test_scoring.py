"""The two passes (spec 08) and the single pass (spec 02): scores, order, fading."""

import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.authority import AuthorityWeights, frequency
from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.cues import keywords, words
from lithify.memory.ranking.profile import SEED, HybridWeights, Profile
from lithify.memory.ranking.scoring import (
    HybridScored,
    Scored,
    coarse_cut,
    fade_older,
    final_score,
    hybrid_score,
    rank_key,
    rank_order,
    score_hybrid,
    score_pass2,
)
from tests.unit.memory.candidate_samples import NOW, PROFILES, candidate, texts, wild_candidates, wild_numbers

DAY_S = 86_400.0


def aged(name: str, score: float, age_days: float | None) -> HybridScored:
    age_s = None if age_days is None else age_days * DAY_S
    return HybridScored(candidate(name, age_s=age_s), score, 0.0, 0.0, 1.0, score)


def test_scores_halve_with_every_half_life_behind_the_newest() -> None:
    rows = fade_older([aged("old", 0.8, 70.0), aged("new", 0.3, 10.0), aged("timeless", 0.25, None)], 30.0)
    assert [(row.candidate.id, row.score) for row in rows] == [
        ("new", 0.3),
        ("timeless", 0.25),
        ("old", pytest.approx(0.2)),
    ]


def test_nothing_fades_without_a_half_life_or_without_times() -> None:
    rows = [aged("a", 0.8, 70.0), aged("b", 0.3, 0.0)]
    assert fade_older(rows, None) == rows
    assert fade_older([aged("c", 0.8, None)], 30.0) == [aged("c", 0.8, None)]
    assert fade_older([], 30.0) == []


PURE_SIMILARITY = replace(SEED, hybrid=HybridWeights(1.0, 0.0, 0.0))


def score(memory: Candidate, profile: Profile = SEED) -> float:
    return score_hybrid([memory], profile, NOW)[0].score


def test_a_strong_global_match_outranks_a_weak_session_match() -> None:
    """spec 02.1"""
    session = candidate("s", 0.6, age_s=0)
    shared = candidate("g", 0.95, age_s=10, scope=Scope.GLOBAL)
    ranked = score_hybrid([session, shared], SEED, NOW)
    assert [row.candidate.id for row in ranked] == ["g", "s"]
    assert [row.score for row in ranked] == pytest.approx([0.894996, 0.72], abs=1e-6)


def test_ages_count_in_seconds_at_the_rate_of_their_scope() -> None:
    """spec 02.2"""
    assert score(candidate(dense=0.8, age_s=3600, scope=Scope.USER)) == pytest.approx(0.8129281, abs=1e-6)
    assert score(candidate(dense=0.5, age_s=345600, scope=Scope.GLOBAL)) == pytest.approx(0.4801949, abs=1e-6)


def test_summaries_rank_below_raw_turns_by_their_decay() -> None:
    """spec 02.3"""
    raw = candidate("raw", 0.9, age_s=0, decay_rate=0.9)  # the decay of a raw turn is ignored
    good = candidate("good", 0.9, age_s=0, kind=Kind.SUMMARY, decay_rate=0.1)
    poor = candidate("poor", 0.9, age_s=0, kind=Kind.SUMMARY, decay_rate=0.9)
    ranked = score_hybrid([poor, good, raw], SEED, NOW)
    assert [row.candidate.id for row in ranked] == ["raw", "good", "poor"]
    assert [row.score for row in ranked] == pytest.approx([0.93, 0.8835, 0.5115], abs=1e-6)


@pytest.mark.parametrize(("decay", "expected"), [(0.0, 1.0), (0.2, 0.9), (1.0, 0.5)])
def test_pure_similarity_leaves_only_quality(decay: float, expected: float) -> None:
    """spec 02.4"""
    summary = candidate(dense=1.0, kind=Kind.SUMMARY, decay_rate=decay)
    assert score(summary, PURE_SIMILARITY) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("confidence", "expected"), [(0.82, 0.728), (0.34, 0.536)])
def test_confidence_of_a_summary_reaches_its_score(confidence: float, expected: float) -> None:
    """spec 02.5"""
    summary = candidate(dense=0.8, kind=Kind.SUMMARY, decay_rate=1.0 - confidence)
    assert score(summary, PURE_SIMILARITY) == pytest.approx(expected, abs=1e-6)


def test_dropping_similarity_renormalises_the_other_weights() -> None:
    """spec 02.6"""
    profile = replace(SEED, hybrid=HybridWeights(0.0, 0.2, 0.1)).normalise()
    assert profile.hybrid == pytest.approx((0.0, 2 / 3, 1 / 3), abs=1e-6)
    assert score(candidate(age_s=3600), profile) == pytest.approx(0.7984509, abs=1e-6)


def test_weights_are_clamped_before_they_are_renormalised() -> None:
    """spec 02.7"""
    assert HybridWeights(10, 0.2, 0.1).normalise() == pytest.approx((0.769231, 0.153846, 0.076923), abs=1e-6)
    assert HybridWeights(0, 0, 0).normalise() == (0.7, 0.2, 0.1)
    assert HybridWeights(math.nan, math.inf, math.nan).normalise() == (0.7, 0.2, 0.1)
    wild = replace(SEED, hybrid=HybridWeights(10, 10, 10), delta=2.0).normalise()
    assert wild.delta == 1.0
    assert score(candidate(dense=5.0, age_s=0, kind=Kind.SUMMARY, decay_rate=0.5), wild) == pytest.approx(0.5)


def test_a_negative_similarity_counts_as_none() -> None:
    """spec 02.8"""
    assert score(candidate(dense=-0.8), PURE_SIMILARITY) == 0.0


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=200, deadline=None)
@given(candidates=wild_candidates())
def test_every_input_gives_finite_scores_in_the_unit_interval(profile: Profile, candidates: list[Candidate]) -> None:
    """spec 02.13 (bounds): for any numbers whatsoever."""
    rows = score_hybrid(candidates, profile, NOW)
    assert len(rows) == len(candidates)
    assert all(0.0 <= number <= 1.0 for row in rows for number in row[1:-1])
    assert all(row.quality >= 1.0 - profile.delta for row in rows)


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=200, deadline=None)
@given(
    similarity=st.tuples(st.floats(-1, 1), st.floats(-1, 1)).map(sorted),
    ages=st.tuples(st.floats(0, 1e8), st.floats(0, 1e8)).map(sorted),
    decays=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    scope=st.sampled_from(Scope),
)
def test_score_never_falls_with_similarity_recency_or_confidence(
    profile: Profile, similarity: list[float], ages: list[float], decays: list[float], scope: Scope
) -> None:
    """spec 02.13 (monotonicity)"""

    def at(dense: float, age_s: float, decay: float) -> float:
        memory = candidate(dense=dense, age_s=age_s, scope=scope, kind=Kind.SUMMARY, decay_rate=decay)
        return score(memory, profile)

    least = at(similarity[0], ages[1], decays[1])
    assert at(similarity[1], ages[1], decays[1]) >= least
    assert at(similarity[0], ages[0], decays[1]) >= least
    assert at(similarity[0], ages[1], decays[0]) >= least


@settings(max_examples=200, deadline=None)
@given(weights=st.tuples(wild_numbers(), wild_numbers(), wild_numbers()), delta=wild_numbers())
def test_normalised_weights_are_convex(weights: tuple[float, float, float], delta: float) -> None:
    profile = replace(SEED, hybrid=HybridWeights(*weights), delta=delta).normalise()
    assert math.isclose(sum(profile.hybrid), 1.0, abs_tol=1e-12)
    assert all(0.0 <= weight <= 1.0 for weight in (*profile.hybrid, profile.delta))


def test_hybrid_score_works_on_plain_numbers() -> None:
    assert float(hybrid_score(0.6, 1.0, 1.0, 1.0, HybridWeights())) == pytest.approx(0.72)


def test_ties_fall_to_similarity_then_id() -> None:
    tied = [candidate(name) for name in ("c", "b", "a", "z")]
    scores = np.array([0.5, 0.5, 0.5, 0.5])
    similarities = np.array([0.1, 0.1, 0.1, 0.2])
    assert rank_order(scores, similarities, tied).tolist() == [3, 2, 1, 0]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from((0.0, 0.5, 1.0)), st.floats(0, 1)), max_size=12))
def test_fast_order_equals_the_order_of_the_keys(numbers: list[tuple[float, float]]) -> None:
    candidates = [candidate(f"{i:02d}") for i in range(len(numbers))][::-1]
    scores = np.array([score for score, _ in numbers])
    similarities = np.array([similarity for _, similarity in numbers])
    expected = sorted(range(len(numbers)), key=lambda i: rank_key(*numbers[i], candidates[i].id))
    assert rank_order(scores, similarities, candidates).tolist() == expected


def test_no_candidates_give_no_ranking() -> None:
    assert score_hybrid([], SEED, NOW) == []


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


@settings(max_examples=200, deadline=None)
@given(kappa=st.floats(0, 1e308), covered=wild_numbers(), mixed=wild_numbers(), weight=wild_numbers())
def test_final_score_is_bounded_for_any_keyword_weight(
    kappa: float, covered: float, mixed: float, weight: float
) -> None:
    assert 0.0 <= float(final_score(mixed, weight, covered, 1.0, kappa)) <= 1.0
