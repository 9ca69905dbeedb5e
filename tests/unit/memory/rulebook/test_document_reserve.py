"""A process whose hard rules cannot fit refuses to start and says why (spec 06 §7)."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.errors import Misconfigured
from lithify.memory.rulebook.document import AuthoredNode, check_hard_reserve, partition_document

RULE = partition_document(b"- rule\n", "AGENTS.md", core=True).hard[0]


def rules(**tokens: int) -> list[AuthoredNode]:
    return [replace(RULE, source_doc=f"{name}.md", token_estimate=cost) for name, cost in tokens.items()]


def test_hard_rules_over_their_reserve_stop_the_start() -> None:
    """spec 06.11"""
    check_hard_reserve(rules(a=100, b=50), 0.3, 500)
    with pytest.raises(Misconfigured, match=r"need 151 tokens, 150 are allowed \(0\.3 of 500\)"):
        check_hard_reserve(rules(a=100, b=51), 0.3, 500)


def test_the_error_names_the_largest_documents() -> None:
    with pytest.raises(Misconfigured, match=r"largest documents: c\.md \(9\), a\.md \(5\), b\.md \(5\)$"):
        check_hard_reserve(rules(a=5, b=5, c=8, d=1) + rules(c=1), 0.5, 10)


def test_a_reserve_needs_a_budget_only_if_rules_exist() -> None:
    """spec 06.12"""
    with pytest.raises(Misconfigured, match="no startup token budget"):
        check_hard_reserve(rules(a=5), 0.3, None)
    check_hard_reserve([], 0.3, None)


def test_an_unset_share_reserves_nothing() -> None:
    check_hard_reserve(rules(a=1000), None, 10)
    check_hard_reserve(rules(a=1000), None, None)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 500), max_size=6), st.floats(0, 1), st.integers(0, 2000))
def test_start_is_refused_exactly_above_the_reserve(costs: list[int], share: float, budget: int) -> None:
    nodes = [replace(RULE, ordinal=i, token_estimate=cost) for i, cost in enumerate(costs)]
    fits = sum(costs) <= share * budget + 1e-9
    if fits:
        check_hard_reserve(nodes, share, budget)
    else:
        with pytest.raises(Misconfigured, match=f"need {sum(costs)} tokens"):
            check_hard_reserve(nodes, share, budget)
