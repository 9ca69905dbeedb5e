"""The cohesion guard: related turns stay together, unrelated ones are cut apart or left raw."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.compaction.clustering import Cluster, CohesionGuard, likeness
from lithify.memory.compaction.plan import CompactionPolicy, Trigger, plan_compaction
from lithify.memory.turn import Turn, are_coupled
from lithify.memory.vectors.background import relatedness
from tests.unit.compactor.session_store import DictStore, bag_of_words, chat, compact, drafter

APART = CohesionGuard(background=0.0)


def spoken(roles: str) -> list[Turn]:
    """One turn per letter, u for user and a for assistant."""
    names = {"u": "user", "a": "assistant"}
    return [Turn(f"t{i}", float(i), names[role], "text") for i, role in enumerate(roles)]


def sizes(parts: list[Cluster]) -> list[tuple[int, bool]]:
    return [(len(part.turns), part.related) for part in parts]


def test_likeness_is_the_mean_cosine_of_different_members() -> None:
    assert likeness([[1, 0], [0, 1]]) == pytest.approx(0.0)
    assert likeness([[2, 0], [7, 0]]) == pytest.approx(1.0)
    assert likeness([[1, 0], [1, 0], [0, 1]]) == pytest.approx(1 / 3)
    assert likeness([[1, 0]]) == 1.0
    assert likeness([[0, 0], [1, 0]]) == 0.0


def test_only_likeness_above_that_of_unrelated_texts_counts() -> None:
    """nomic gives unrelated texts 0.55, which would pass for related in MiniLM's space."""
    assert relatedness(0.55, 0.55) == 0.0
    assert relatedness(1.0, 0.55) == pytest.approx(1.0)
    assert relatedness(0.1, 0.2) < 0
    assert relatedness(1.0, 1.0) == 0.0


def test_floor_itself_admits() -> None:
    guard = CohesionGuard(background=0.0, floor=1 / 3)
    assert guard.relates([[1, 0], [1, 0], [0, 1]])
    assert not CohesionGuard(background=0.0, floor=0.34).relates([[1, 0], [1, 0], [0, 1]])


def test_related_turns_stay_one_piece() -> None:
    assert sizes(APART.split(spoken("uaua"), [[1, 0.1], [1, 0], [0.9, 0], [1, 0.2]])) == [(4, True)]


def test_cluster_of_several_subjects_is_cut_between_them() -> None:
    rows = np.repeat(np.eye(8), 2, axis=0)
    guard = CohesionGuard(background=0.0, floor=0.5)
    assert sizes(guard.split(spoken("ua" * 8), rows)) == [(2, True)] * 8


def test_bundle_of_unrelated_turns_is_not_cut_but_told() -> None:
    assert sizes(APART.split(spoken("uaua"), np.eye(4))) == [(2, False), (2, False)]


def test_single_turns_are_related_to_themselves() -> None:
    assert sizes(APART.split(spoken("uuu"), np.eye(3))) == [(1, True)] * 3


@settings(max_examples=200)
@given(st.text("ua", min_size=1, max_size=40), st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_pieces_partition_the_turns_split_no_bundle_and_tell_the_truth(roles: str, seed: int, dims: int) -> None:
    turns = spoken(roles)
    rows = np.random.default_rng(seed).normal(size=(len(turns), dims))
    pieces = APART.split(turns, rows)
    assert [turn for piece in pieces for turn in piece.turns] == turns
    start = 0
    for piece in pieces:
        end = start + len(piece.turns)
        assert piece.related == APART.relates(rows[start:end])
        assert end == len(turns) or not are_coupled(turns[end - 1], turns[end])
        start = end


def test_unrelated_cluster_is_declined_and_left_raw() -> None:
    store = DictStore.holding(chat(14))
    plan = plan_compaction(store.view(), lambda _: 30.0, CompactionPolicy(10), Trigger.FORCED)
    plan = replace(plan, clusters=tuple(replace(cluster, related=False) for cluster in plan.clusters))
    report = compact(plan, drafter(), store.apply, 9e6)
    assert (report.did_compact, report.clusters_formed, report.clusters_declined) == (False, 1, 1)
    assert store.applied == []


def test_pieces_get_a_summary_each() -> None:
    store = DictStore.holding(chat(14))

    plan = plan_compaction(store.view(), lambda _: 30.0, CompactionPolicy(10), Trigger.FORCED)
    [cluster] = plan.clusters
    plan = replace(plan, clusters=(Cluster(cluster.turns[:4]), Cluster(cluster.turns[4:])))
    report = compact(plan, drafter(bag_of_words), store.apply, 9e6)
    assert [len(summary.source_ids) for summary in store.summaries.values()] == [4, 6]
    assert report.clusters_formed == 2
