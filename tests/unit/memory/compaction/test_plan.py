"""Clusters: sizes, completeness, bundles, and what may be compacted at all."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.errors import Invalid
from lithify.memory.compaction.clustering import cut_evenly
from lithify.memory.compaction.plan import (
    CompactionPolicy,
    SessionView,
    Trigger,
    eligible,
    is_due,
    plan_compaction,
)
from lithify.memory.turn import Turn, are_coupled
from tests.unit.compactor.session_store import SESSION, DictStore, chat


def flat_cost(_: Turn) -> float:
    return 30.0


def plain(n: int) -> list[Turn]:
    return [Turn(f"t{i:04}", float(i), "user", "text") for i in range(n)]


@pytest.mark.parametrize(
    ("n", "k", "sizes"),
    [
        (5, 2, [2, 2, 1]),
        (19, 20, [19]),
        (21, 20, [11, 10]),
        (41, 20, [14, 14, 13]),
        (45, 20, [15, 15, 15]),
        (7, 3, [3, 2, 2]),
        (3, 0, [3]),
        (3, -1, [3]),
        (0, 20, []),
    ],
)
def test_cluster_sizes(n: int, k: int, sizes: list[int]) -> None:
    """spec 05.1"""
    assert [len(group) for group in cut_evenly(plain(n), k)] == sizes


@settings(max_examples=200)
@given(st.integers(0, 300), st.integers(-3, 60))
def test_clusters_follow_the_assignment_formula(n: int, k: int) -> None:
    """spec 05.1"""
    turns = plain(n)
    groups = cut_evenly(turns, k)
    size = k if k > 0 else 20
    count = -(-max(n, 1) // size)
    assigned = [[turns[i] for i in range(n) if i * count // n == j] for j in range(count)]
    assert [list(group) for group in groups] == [group for group in assigned if group]
    assert max(map(len, groups), default=0) - min(map(len, groups), default=0) <= 1


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.sampled_from(["", "p", "q"])), max_size=60),
    st.integers(1, 25),
)
def test_clusters_partition_the_turns_and_split_no_bundle(rows: list[tuple[str, str]], k: int) -> None:
    """spec 05.12"""
    turns = [Turn(f"t{i:04}", float(i), role, "x", bundle_id=b) for i, (role, b) in enumerate(rows)]
    groups = cut_evenly(turns, k)
    assert [turn for group in groups for turn in group] == turns
    assert all(groups)
    assert not any(are_coupled(left[-1], right[0]) for left, right in pairwise(groups))


def test_boundary_moves_left_to_the_start_of_its_bundle() -> None:
    """spec 05.12"""
    turns = chat(10)
    assert [len(group) for group in cut_evenly(plain(10), 5)] == [5, 5]
    assert [len(group) for group in cut_evenly(turns, 5)] == [4, 6]


@settings(max_examples=200)
@given(st.randoms(use_true_random=False), st.integers(0, 40))
def test_shuffled_turns_of_one_instant_form_the_same_clusters(random: Random, n: int) -> None:
    """spec 05.2"""
    turns = [Turn(f"t{i:04}", 7.0, "user", "text") for i in range(n)]
    shuffled = list(turns)
    random.shuffle(shuffled)
    policy = CompactionPolicy(target_size=5)
    plans = [
        plan_compaction(SessionView(SESSION, tuple(order)), flat_cost, policy, Trigger.FORCED)
        for order in (turns, shuffled)
    ]
    assert plans[0].clusters == plans[1].clusters


@settings(max_examples=200)
@given(st.integers(0, 60), st.integers(1, 25))
def test_no_compacted_turn_belongs_to_the_tail(n: int, k: int) -> None:
    """spec 05.12"""
    view = DictStore.holding(chat(n)).view()
    plan = plan_compaction(view, flat_cost, CompactionPolicy(target_size=k), Trigger.FORCED)
    compacted = [turn for cluster in plan.clusters for turn in cluster.turns]
    assert set(compacted).isdisjoint(plan.tail.recent)
    assert set(plan.tail.recent) >= set(chat(n)[-4:])
    assert not any(are_coupled(turn, plan.tail.recent[0]) for turn in compacted[-1:])


def test_summaries_and_shards_are_not_eligible() -> None:
    turns = plain(2)
    others = [Turn("s", 0.0, "", "text", kind="summary"), Turn("g", 0.0, "", "text", kind="guidance")]
    assert eligible([*others, *reversed(turns)]) == tuple(turns)


def test_plain_request_waits_for_a_full_cluster() -> None:
    """X22: forced and automatic runs do not wait."""
    assert not is_due(19, 20, Trigger.EXPLICIT)
    assert is_due(20, 20, Trigger.EXPLICIT)
    assert is_due(20, 0, Trigger.EXPLICIT)
    assert not is_due(19, 0, Trigger.EXPLICIT)
    assert is_due(2, 20, Trigger.FORCED)
    assert is_due(2, 20, Trigger.AUTOMATIC)
    assert not is_due(1, 1, Trigger.FORCED)


def test_compaction_refuses_a_blank_session() -> None:
    with pytest.raises(Invalid, match="session id"):
        plan_compaction(SessionView("  ", ()), flat_cost)
