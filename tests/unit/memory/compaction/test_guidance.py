"""Standing instructions survive compaction word for word."""

import math
from dataclasses import replace

import pytest

from lithify.memory.compaction.guidance import PROTOTYPES, has_hint, is_guidance, make_shard, stability_weight
from lithify.memory.compaction.plan import Trigger, plan_compaction
from lithify.memory.turn import Turn
from tests.unit.compactor.session_store import SESSION, DictStore, chat, compact, drafter

RULE = "Never use tabs here."
FORBIDDEN = 4  # what the deontic detector answers for the rule


def test_detector_hits_need_stability_only() -> None:
    """spec 11.1"""
    assert is_guidance(RULE, 0.5, FORBIDDEN, prototype_cosine=0.0)
    assert is_guidance(RULE, 0.35, FORBIDDEN, prototype_cosine=math.nan)
    assert not is_guidance(RULE, 0.34, FORBIDDEN, prototype_cosine=1.0)


def test_without_the_detector_a_hint_and_a_likeness_are_needed() -> None:
    """spec 11.1"""
    assert is_guidance("I prefer short answers", 0.5, 0, prototype_cosine=0.78)
    assert not is_guidance("I prefer short answers", 0.5, 0, prototype_cosine=0.7799)
    assert not is_guidance("Short answers read well", 0.5, 0, prototype_cosine=0.99)


@pytest.mark.parametrize(
    "text", ["Prioritize it", "prioritise it", "DON’T do it", "don't do it", "do not go", "We should", "use it"]
)
def test_hint_words_match_whole_words_in_any_case(text: str) -> None:
    assert has_hint(text)


def test_hint_words_do_not_match_inside_others() -> None:
    assert not has_hint("The mustard was refocused because users keeping it shouldered the cost")


def test_stability_follows_the_speaker_and_promotion() -> None:
    assert [stability_weight(role) for role in ("user", "assistant", "system")] == [0.5, 0.25, 0.2]
    assert stability_weight("assistant", promoted_gating=0.7) == 0.7
    assert stability_weight("assistant", promoted_gating=0.1) == 0.5


def test_four_prototypes_each_read_as_guidance() -> None:
    assert len(set(PROTOTYPES)) == 4


def test_protected_turn_is_kept_verbatim_and_not_melted() -> None:
    """spec 11.1"""
    rule = Turn("rule", 1002.5, "user", RULE)
    store = DictStore.holding([*chat(12), rule])
    plan = plan_compaction(store.view(), lambda _: 60.0, trigger=Trigger.FORCED)
    plan = replace(plan, clusters=tuple(replace(cluster, protected=(rule,)) for cluster in plan.clusters))
    report = compact(plan, drafter(), store.apply, 9e6)
    [summary] = store.summaries.values()
    assert store.shards["rule"] == make_shard(rule, SESSION)
    assert store.shards["rule"].text == RULE
    assert RULE not in summary.text
    assert "rule" in summary.source_ids
    assert "rule" not in store.active
    assert report.turns_removed == len(summary.source_ids)


def test_shard_belongs_to_the_user_where_one_is_known() -> None:
    assert make_shard(Turn("t", 0.0, "user", RULE, user="alice"), SESSION).scope == "user"
    assert make_shard(Turn("t", 0.0, "user", RULE), SESSION).scope == "session"


def test_cluster_of_nothing_but_rules_is_left_raw() -> None:
    store = DictStore.holding(chat(12))
    plan = plan_compaction(store.view(), lambda _: 60.0, trigger=Trigger.FORCED)
    plan = replace(plan, clusters=tuple(replace(cluster, protected=cluster.turns) for cluster in plan.clusters))
    report = compact(plan, drafter(), store.apply, 9e6)
    assert not report.did_compact
    assert (len(store.active), store.shards, store.applied) == (12, {}, [])
