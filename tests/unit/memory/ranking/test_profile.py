"""The two profiles, their domains, and candidates read from stored metadata."""

import math
from dataclasses import asdict, fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.errors import Misconfigured
from lithify.memory.ranking.authority import AuthorityWeights
from lithify.memory.ranking.candidate import PerScope, Scope
from lithify.memory.ranking.passages import ALONE, Window
from lithify.memory.ranking.profile import MOST_HITS, RECALL, SEED, HybridWeights, Profile, TemporalWeights
from lithify.memory.ranking.relevance import RelevanceWeights
from lithify.memory.ranking.scoring import score_pass2
from tests.unit.memory.candidate_samples import NOW, PROFILES, candidate, wild_numbers


def test_the_seed_keeps_the_constants_of_the_sources() -> None:
    assert SEED.relevance == RelevanceWeights(1.0, *[0.0] * (len(RelevanceWeights._fields) - 1))
    assert (SEED.window, SEED.dense_by_maximum, SEED.raw_history) == (ALONE, False, False)
    assert (SEED.mmr_lambda, SEED.decay_half_life_days, SEED.renewal.depth) == (None, None, 0)
    assert SEED.hybrid == (0.7, 0.2, 0.1)
    assert SEED.authority == (0.5, 0.2, 0.3)
    assert SEED.temporal == (0.6, 0.2, 0.2)
    assert (SEED.delta, SEED.kappa, SEED.authority_rate) == (0.5, 0.3, 1e-5)
    assert (SEED.top_k, SEED.coarse_size, SEED.final_size, SEED.similarity_floor) == (8, 16, 8, 0.2)
    assert (SEED.hop_attenuation, SEED.hop_floor) == (0.5, 0.15)
    assert (SEED.budget_fraction, SEED.hard_fraction, SEED.soft_fraction) == (0.25, None, 0.3)
    assert (SEED.tail_fraction, SEED.tail_tokens, SEED.tail_turns, SEED.guidance_fraction) == (None, 128, 4, 0.15)
    weights, rates = SEED.scope_weights, SEED.scope_rates
    assert (weights.session, weights.user, weights.shared) == (1.0, 0.6, 0.3)
    assert (rates.session, rates.user, rates.shared) == (1e-4, 1e-5, 2e-6)
    assert (SEED.temporal_threshold, SEED.slot_threshold, SEED.recovery_floor) == (0.3, 0.5, 0.15)
    assert (SEED.recovery_size, SEED.coverage_size, SEED.coverage_floor) == (10, 3, 0.1)
    assert (SEED.history, SEED.source_share, SEED.search_tiers, SEED.cascade_deadline_ms) == (
        "session",
        None,
        "cascade",
        50.0,
    )
    assert SEED.indicator == (1.0, 0.9, 0.8, 0.8, 0.7, 0.7, 1.5)
    assert (SEED.temporal_guard, SEED.temporal_fill, SEED.max_slots) == ("indicator", False, 4)
    assert not SEED.dated_coverage


@pytest.mark.parametrize("profile", PROFILES)
def test_shipped_profiles_are_normalised(profile: Profile) -> None:
    assert profile.normalise() == profile
    assert profile.mmr_lambda is None
    assert profile.decay_half_life_days is None


def test_history_weighs_between_session_and_durable_memory_where_it_is_a_scope() -> None:
    for values in (RECALL.scope_weights, RECALL.scope_rates):
        assert values.of(Scope.SESSION) > values.of(Scope.HISTORY) > values.of(Scope.USER) > values.of(Scope.GLOBAL)


def test_the_seed_knows_three_scopes() -> None:
    """Spec 01 §3: what is the user's and not of this session is durable memory."""
    for values in (SEED.scope_weights, SEED.scope_rates):
        assert values.of(Scope.SESSION) > values.of(Scope.HISTORY) == values.of(Scope.USER) > values.of(Scope.GLOBAL)


def test_age_decides_in_the_seed_but_not_in_recall() -> None:
    fresh, old = candidate("fresh", 0.5, age_s=0), candidate("old", 0.6, age_s=180 * 86400)
    best = {p.name: score_pass2([fresh, old], (), p, NOW, 0)[0].candidate.id for p in PROFILES}
    assert best == {"seed": "fresh", "recall": "old"}


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_numbers_are_brought_into_their_domains(data: st.DataObject) -> None:
    number = wild_numbers() | st.integers(-5, 5).map(float)

    def draw(count: int) -> list[float]:
        return [data.draw(number) for _ in range(count)]

    shares = ("budget_fraction", "guidance_fraction", "temporal_threshold", "hop_floor", "delta")
    wild = replace(
        SEED,
        relevance=RelevanceWeights(*draw(len(RelevanceWeights._fields))),
        window=Window(tuple(draw(2)), tuple(draw(1))),
        hybrid=HybridWeights(*draw(3)),
        authority=AuthorityWeights(*draw(3)),
        temporal=TemporalWeights(*draw(3)),
        scope_weights=PerScope(*draw(4)),
        scope_rates=PerScope(*draw(4)),
        similarity_floor=data.draw(number),
        delta=data.draw(number),
        kappa=data.draw(number),
        authority_rate=data.draw(number),
        hop_attenuation=data.draw(number),
        hop_floor=data.draw(number),
        budget_fraction=data.draw(number),
        guidance_fraction=data.draw(number),
        temporal_threshold=data.draw(number),
    )
    clean = wild.normalise()
    for weights in (clean.relevance, clean.hybrid, clean.authority, clean.temporal):
        assert math.isclose(sum(weights), 1.0, abs_tol=1e-12)
        assert min(weights) >= 0.0
    assert all(0.0 <= value <= 1.0 for value in (*clean.scope_weights, *(getattr(clean, name) for name in shares)))
    assert all(
        math.isfinite(value) and value >= 0.0 for value in (*clean.scope_rates, clean.kappa, clean.authority_rate)
    )
    assert -1.0 <= clean.similarity_floor <= 1.0
    assert all(0.0 <= share <= 1.0 for share in clean.window.shares.values())
    assert 1e-6 <= clean.hop_attenuation <= 1.0 - 1e-6
    assert clean.normalise().relevance == pytest.approx(clean.relevance)


def test_sizes_are_at_least_one_and_ordered() -> None:
    clean = replace(SEED, top_k=0, k1=-3, k2=50, coverage_size=9, recovery_size=-1, tail_turns=0).normalise()
    assert (clean.top_k, clean.coarse_size, clean.final_size) == (1, 1, 1)
    assert (clean.coverage_size, clean.recovery_size, clean.tail_turns) == (1, 0, 1)
    assert replace(SEED, top_k=20).coarse_size == 40
    assert (replace(SEED, top_k=20).leg_depth(0.0), replace(SEED, leg_hits=0).normalise().leg_depth(9e9)) == (40, 1)
    assert replace(SEED, top_k=2).coarse_size == 8


def test_a_larger_budget_asks_for_more_hits_within_bounds() -> None:
    growing = replace(SEED, leg_hits=28, tokens_per_hit=70.0)
    assert [growing.leg_depth(room) for room in (0.0, 1_000.0, 4_200.0, 1e9)] == [28, 28, 60, MOST_HITS]
    assert replace(growing, tokens_per_hit=math.nan).normalise().tokens_per_hit == 1.0


@pytest.mark.parametrize(
    ("profile", "name"),
    [
        (replace(SEED, hard_fraction=0.5, soft_fraction=0.3, tail_fraction=0.3), "hard_fraction=0.5"),
        (replace(SEED, soft_fraction=1.1), "soft_fraction=1.1"),
        (replace(SEED, hard_fraction=-0.1), "hard_fraction=-0.1"),
        (replace(SEED, tail_fraction=math.nan), "tail_fraction=nan"),
        (replace(SEED, decay_half_life_days=0.0), "decay_half_life_days"),
        (replace(SEED, decay_half_life_days=math.inf), "decay_half_life_days"),
    ],
)
def test_impossible_budgets_are_refused(profile: Profile, name: str) -> None:
    with pytest.raises(Misconfigured, match=name):
        profile.normalise()


def test_reserves_may_fill_the_budget_exactly() -> None:
    profile = replace(SEED, hard_fraction=0.4, soft_fraction=0.3, tail_fraction=0.3)
    assert profile.normalise() == profile


def test_optional_steps_are_kept_when_configured() -> None:
    clean = replace(SEED, mmr_lambda=1.7, decay_half_life_days=30.0).normalise()
    assert (clean.mmr_lambda, clean.decay_half_life_days) == (1.0, 30.0)


def test_the_digest_names_the_parameters_and_nothing_else() -> None:
    assert replace(SEED, name="renamed").digest() == SEED.digest()
    assert SEED.digest() != RECALL.digest()
    assert len(SEED.digest()) == 64
    assert {f.name for f in fields(SEED)} == set(asdict(SEED))
    assert replace(SEED, kappa=0.31).digest() != SEED.digest()
