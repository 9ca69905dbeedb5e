"""Every search begins with the same core and grows by doubling."""

import pytest

from lithify.assembly.recall.levels import assembly_levels, core_level, search_levels
from lithify.memory.ranking.profile import RECALL, SEED


def test_every_search_begins_with_the_core() -> None:
    core = core_level(RECALL)
    assert {search_levels(RECALL, limit)[0] for limit in (1, 8, 100, 1000)} == {core}
    assert {assembly_levels(RECALL, room)[0] for room in (0.0, 2000.0, 1e7)} == {core}


@pytest.mark.parametrize("limit", [1, 16, 17, 100, 1000])
def test_a_search_looks_at_four_times_what_it_returns_or_more(limit: int) -> None:
    levels = search_levels(RECALL, limit)
    assert levels[-1].depth >= max(4 * limit, 64)
    assert [level.depth for level in levels] == sorted(level.depth for level in levels)


@pytest.mark.parametrize(("limit", "multiplier"), [(1, 1), (8, 2), (8, 8), (100, 3), (1000, 4)])
def test_a_multiplier_sets_the_depth_exactly(limit: int, multiplier: int) -> None:
    levels = search_levels(RECALL, limit, multiplier)
    assert levels[-1].depth == multiplier * limit
    assert levels[-1].shortlist >= limit


def test_deeper_searches_pass_the_levels_of_shallower_ones() -> None:
    assert search_levels(RECALL, 100)[: len(search_levels(RECALL, 30))] == search_levels(RECALL, 30)
    few, many = assembly_levels(RECALL, 4000.0), assembly_levels(RECALL, 16000.0)
    assert many[: len(few)] == few
    assert len(many) > len(few) > 1


def test_two_thousand_tokens_need_the_core_only() -> None:
    assert assembly_levels(RECALL, 2000.0) == (core_level(RECALL),)
    assert len(assembly_levels(SEED, 1e6)) == 1
