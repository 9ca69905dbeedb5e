"""Every search of a profile looks at least as far as the core, which it judges by."""

import pytest

from lithify.assembly.recall.reach import assembly_reach, core_reach, search_reach
from lithify.memory.ranking.profile import RECALL, SEED


@pytest.mark.parametrize("limit", [1, 16, 17, 100, 1000])
def test_a_search_looks_at_four_times_what_it_returns_or_more(limit: int) -> None:
    reach = search_reach(RECALL, limit)
    assert reach.depth >= max(4 * limit, 64, core_reach(RECALL).depth)
    assert limit < reach.depth // 2 <= reach.shortlist < reach.depth


def test_a_larger_budget_looks_farther_than_the_core() -> None:
    core = core_reach(RECALL)
    assert assembly_reach(RECALL, 2000.0) == core
    assert core.depth < assembly_reach(RECALL, 4000.0).depth < assembly_reach(RECALL, 16000.0).depth
    assert assembly_reach(SEED, 1e6) == core_reach(SEED)


@pytest.mark.parametrize(("limit", "multiplier"), [(1, 1), (8, 2), (8, 8), (100, 3), (1000, 4)])
def test_a_multiplier_sets_the_depth_exactly(limit: int, multiplier: int) -> None:
    reach = search_reach(RECALL, limit, multiplier)
    assert reach.depth == multiplier * limit
    assert reach.shortlist >= limit
