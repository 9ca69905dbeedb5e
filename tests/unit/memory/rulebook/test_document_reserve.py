"""A process whose hard rules cannot fit refuses to start and says why, by the arithmetic of assembly (spec 06 §7)."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.assembly.prompt.context import plan_context
from lithify.assembly.prompt.ingredients import Ingredients, Terms
from lithify.authored import Rule
from lithify.errors import Misconfigured
from lithify.memory.prompt.budget import memory_budget
from lithify.memory.prompt.composition import rule_item
from lithify.memory.prompt.rendering import Frames, block_overhead
from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.profile import RECALL, SEED, Profile
from lithify.memory.ranking.relevance import Signals
from lithify.memory.rulebook.document import AuthoredNode, check_hard_reserve, partition_document
from lithify.memory.turn import Turn

RULE = partition_document(b"- rule\n", "AGENTS.md", core=True).hard[0]
OVERHEAD = block_overhead(frames=Frames.at(0.0))
TURN = Turn(id="t1", ts=1, role="user", text="Hello.")
MEMORY = Candidate("m1", "The mugs are fired.", Scope.USER, Kind.TURN, Signals(dense=0.9, lexical=0.9))
TEXTS = st.text(st.sampled_from("ab \n東&<"), min_size=1, max_size=400)


def rule(name: str, cost: int) -> AuthoredNode:
    """Returns a rule that costs this much as it is shown."""
    text = "x" * 4 * cost
    while rule_item("", text).cost > cost:
        text = text[:-1]
    return replace(RULE, source_doc=f"{name}.md", text=text)


def test_hard_rules_over_their_reserve_stop_the_start() -> None:
    """spec 06.11: 0.3 of what the frames leave of 500 tokens."""
    profile = replace(RECALL, hard_fraction=0.3)
    budget = 500 + OVERHEAD
    check_hard_reserve([rule("a", 100), rule("b", 50)], budget, profile)
    with pytest.raises(Misconfigured, match=rf"need 151 tokens as they are shown, a prompt of {budget} has 150 "):
        check_hard_reserve([rule("a", 100), rule("b", 51)], budget, profile)


def test_the_error_names_the_largest_documents() -> None:
    nodes = [rule("a", 15), rule("b", 15), rule("c", 18), rule("d", 11), rule("c", 11)]
    with pytest.raises(Misconfigured, match=r"largest documents: c\.md \(29\), a\.md \(15\), b\.md \(15\)$"):
        check_hard_reserve(nodes, OVERHEAD + 10, RECALL)


def test_rules_must_fit_the_prompt_where_no_share_is_reserved() -> None:
    """The seed reserves nothing, but rules that exceed its quarter of a budget degrade every prompt all the same."""
    check_hard_reserve([rule("a", 100)], 4 * (OVERHEAD + 100), SEED)
    with pytest.raises(Misconfigured, match="has 100 for them"):
        check_hard_reserve([rule("a", 101)], 4 * (OVERHEAD + 100), SEED)


def test_no_rules_fit_everywhere() -> None:
    check_hard_reserve([], 0, RECALL)


@pytest.mark.parametrize("profile", [RECALL, SEED], ids=["recall", "seed"])
@settings(max_examples=150, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=12), budget=st.integers(0, 6000), share=st.none() | st.floats(0, 0.7))
def test_what_passes_the_check_is_never_degraded_at_that_budget(
    profile: Profile, texts: list[str], budget: int, share: float | None
) -> None:
    profile = replace(profile, hard_fraction=share)
    nodes = [replace(RULE, ordinal=i, text=text) for i, text in enumerate(texts)]
    rules = [Rule(node.record_id, node.text, node.source_doc, node.token_estimate) for node in nodes]
    terms = Terms(memory_budget(budget, profile), profile, 1_800_000_000_000)
    full = Ingredients("anything", turns=[TURN], hard=rules, candidates=[MEMORY])
    degraded = plan_context(full, terms).fixed.budgets.is_degraded
    bare = plan_context(Ingredients("anything", hard=rules), terms).fixed.budgets.is_degraded
    try:
        check_hard_reserve(nodes, budget, profile)
    except Misconfigured:
        assert degraded
    else:
        assert not degraded
        assert not bare
