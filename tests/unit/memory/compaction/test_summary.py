"""Ids and lineage: a summary is named by what it covers, and leads back to it."""

import pytest

from lithify.memory.compaction.plan import plan_compaction
from lithify.memory.compaction.summary import Lineage, summary_id
from tests.unit.compactor.session_store import DictStore, chat, compact, drafter


def test_summary_id_names_what_it_covers() -> None:
    """spec 05.17"""
    assert summary_id("s1", ["a", "b"]) == "summary:808209ad8de0c7c1"


def test_lineage_is_never_empty() -> None:
    with pytest.raises(ValueError, match="at least one turn"):
        Lineage((), 0.0, 0.0, 0.0, "extractive", 1.0)


def test_stored_summary_leads_back_to_exactly_its_turns_in_order() -> None:
    """spec 05.13"""
    store = DictStore.holding(chat(50))
    plan = plan_compaction(store.view(), lambda _: 30.0)
    compact(plan, drafter(), store.apply, 9e6)
    covered = [summary.source_ids for summary in store.summaries.values()]
    assert covered == [tuple(turn.id for turn in cluster.turns) for cluster in plan.clusters]
    assert {turn_id for ids in covered for turn_id in ids} <= set(store.raw)
