"""Budgets, their packing and their shortages (specs 02 and 08)."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.prompt.budget import degraded_reasons, memory_budget, pack_prefix, plan_budgets
from lithify.memory.ranking.profile import SEED, Profile
from tests.unit.memory.candidate_samples import PROFILES


@pytest.mark.parametrize(
    ("costs", "budget", "taken"),
    [([12, 1], 2, []), ([2, 12], 2, [2]), ([1, 1, 1], 2, [1, 1]), ([1], 0, []), ([1], -5, []), ([], 9, [])],
)
def test_prefix_packing_stops_at_the_first_that_does_not_fit(costs: list[int], budget: float, taken: list[int]) -> None:
    """spec 02.11"""
    assert pack_prefix(costs, budget, float) == taken


def test_a_budget_that_is_no_number_takes_nothing() -> None:
    assert pack_prefix([1], float("nan"), float) == []


@settings(max_examples=200, deadline=None)
@given(costs=st.lists(st.integers(1, 50)), budget=st.integers(-5, 300))
def test_packing_never_exceeds_the_budget(costs: list[int], budget: int) -> None:
    prefix = pack_prefix(costs, budget, float)
    assert prefix == costs[: len(prefix)]
    assert sum(prefix) <= max(budget, 0)
    assert len(prefix) == len(costs) or sum(costs[: len(prefix) + 1]) > budget


def test_rounding_does_not_degrade() -> None:
    assert degraded_reasons(100.0, 30.0 + 1e-10, 0.3) == ()


def test_the_memory_budget_is_a_share_of_the_hosts() -> None:
    assert memory_budget(8000, SEED) == 2000
    assert memory_budget(-5, SEED) == memory_budget(math.nan, SEED) == 0.0


def test_overhead_is_taken_off_first() -> None:
    assert plan_budgets(500, 100, 0, 0, [], SEED).tau == 400
    assert plan_budgets(50, 100, 0, 0, [], SEED).tau == 0
    assert plan_budgets(math.nan, 0, 0, 0, [], SEED).tau == 0


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=200, deadline=None)
@given(
    tau=st.floats(0, 3000) | st.integers(0, 3000),
    hard=st.integers(0, 800),
    base=st.integers(0, 800),
    soft=st.lists(st.integers(1, 200), max_size=8),
    overhead=st.integers(0, 120),
)
def test_budgets_always_add_up(
    profile: Profile, tau: float, hard: int, base: int, soft: list[int], overhead: int
) -> None:
    budgets = plan_budgets(tau, overhead, hard, base, soft, profile)
    assert budgets.soft == sum(soft[: budgets.soft_count]) <= max(budgets.soft_limit, 0.0)
    assert budgets.is_degraded == (
        hard > budgets.tau + 1e-9
        or (profile.hard_fraction is not None and hard > profile.hard_fraction * budgets.tau + 1e-9)
    )
    base = min(base, int(max(0.0, budgets.tau - hard)))  # the mandatory turns were cut before
    budgets = plan_budgets(tau, overhead=overhead, hard_cost=hard, base_cost=base, soft_costs=soft, profile=profile)
    assert budgets.tail_limit >= base - 1e-6  # they always fit below the cap of the tail
    for tail in (base, budgets.tail_limit):
        left = budgets.retrieval(tail)
        assert 0.0 <= budgets.guidance(tail) <= left
        if not budgets.is_degraded:
            assert hard + budgets.soft + tail + left <= max(tau - overhead, 0.0) + 1e-6
