"""Ids, lineage and the way back from a summary to its turns."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.compaction.expansion import expand
from lithify.memory.compaction.plan import compact, plan_compaction
from lithify.memory.compaction.summary_id import Edge, Lineage, coverage_edges, edge_id, summary_id
from tests.unit.memory.session_store import DictStore, chat, drafter


def edge(parent: str, child: str, order: int = 0) -> Edge:
    kind = "summary" if child.startswith("summary") else "turn"
    return Edge(edge_id(parent, child), parent, child, order, kind)


def lookup(*edges: Edge) -> dict[str, list[Edge]]:
    table: dict[str, list[Edge]] = {}
    for item in edges:
        table.setdefault(item.parent, []).append(item)
    return table


NESTED = lookup(
    edge("summary:top", "summary:low", 1),
    edge("summary:top", "c", 0),
    edge("summary:low", "b", 1),
    edge("summary:low", "a", 0),
)


def test_summary_id_names_what_it_covers() -> None:
    """spec 05.17"""
    assert summary_id("s1", ["a", "b"]) == "summary:808209ad8de0c7c1"
    assert edge_id("summary:1", "a") == "edge:summary:1:a"


def test_lineage_is_never_empty() -> None:
    with pytest.raises(ValueError, match="at least one turn"):
        Lineage((), 0.0, 0.0, 0.0, "extractive", 1.0)


def test_expanding_a_stored_summary_returns_its_sources() -> None:
    """spec 05.13"""
    store = DictStore.holding(chat(50))
    compact(plan_compaction(store.view(), lambda _: 30.0), drafter(), store.apply, 9e6)
    assert store.summaries
    for summary in store.summaries.values():
        assert expand(summary.id, store.edges_of) == summary.source_ids
        assert set(summary.source_ids) <= set(store.raw)


def test_depth_limits_how_far_expansion_goes() -> None:
    """spec 05.13"""
    assert expand("summary:top", lambda parent: NESTED.get(parent, []), max_depth=1) == ("c",)
    assert expand("summary:top", lambda parent: NESTED.get(parent, [])) == ("c", "a", "b")
    assert expand("summary:top", lambda parent: NESTED.get(parent, []), max_depth=0) == ()


def test_damaged_graph_with_a_cycle_still_ends() -> None:
    table = lookup(edge("summary:a", "summary:b"), edge("summary:b", "summary:a"), edge("summary:b", "t", 1))
    visits: list[str] = []

    def edges_of(parent: str) -> list[Edge]:
        visits.append(parent)
        return table[parent]

    assert expand("summary:a", edges_of, max_depth=9) == ("t",)
    assert visits == ["summary:a", "summary:b"]


@settings(max_examples=200)
@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=12, unique=True))
def test_coverage_edges_expand_to_exactly_the_sources(ids: list[str]) -> None:
    """spec 05.13"""
    edges = coverage_edges("summary:x", ids)
    assert expand("summary:x", lambda _: reversed(edges)) == tuple(ids)
    assert len({item.id for item in edges}) == len(ids)
