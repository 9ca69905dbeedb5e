"""Replacing a cluster: order, atomicity, resumption, and what a failure leaves behind."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.compaction.cluster_geometry import Vectors
from lithify.memory.compaction.clustering import Cluster
from lithify.memory.compaction.commit_steps import (
    AdvanceState,
    CheckGeneration,
    CommitStep,
    KeepShards,
    RetireSources,
    SessionState,
    StaleGeneration,
    StoreSummary,
)
from lithify.memory.compaction.draft import Draft, DraftOutcome, climb, ladder
from lithify.memory.compaction.plan import (
    CompactionPlan,
    CompactionPolicy,
    CompactionReport,
    Trigger,
    plan_compaction,
)
from lithify.memory.compaction.preservation import preservation
from lithify.memory.compaction.summary import SummaryRecord
from lithify.memory.prompt.tail import TailPolicy
from lithify.memory.turn import Turn
from tests.unit.compactor.session_store import (
    STEP_TYPES,
    DictStore,
    Killed,
    bag_of_words,
    chat,
    compact,
    drafter,
    failing,
)

NOW = 9e6


def protect_every_tenth(plan: CompactionPlan) -> CompactionPlan:
    def protect(cluster: Cluster) -> Cluster:
        return replace(cluster, protected=tuple(turn for turn in cluster.turns if turn.id.endswith("0")))

    return replace(plan, clusters=tuple(map(protect, plan.clusters)))


def run(
    store: DictStore, k: int = 10, trigger: Trigger = Trigger.FORCED, tail: TailPolicy | None = None
) -> CompactionReport:
    policy = CompactionPolicy(k, tail or TailPolicy())
    plan = plan_compaction(store.view(), lambda _: 30.0, policy, trigger)
    return compact(protect_every_tenth(plan), drafter(), store.apply, NOW)


def test_steps_make_the_summary_durable_before_any_source_goes() -> None:
    store = DictStore.holding(chat(14))
    run(store)
    kinds = (CheckGeneration, KeepShards, StoreSummary, AdvanceState, RetireSources)
    assert [type(step) for step in store.applied] == list(kinds)


@pytest.mark.parametrize("kind", [KeepShards, StoreSummary, AdvanceState])
def test_failed_write_leaves_every_source_and_the_state(kind: type[CommitStep]) -> None:
    """spec 05.10"""
    store = DictStore.holding(chat(14))
    error = OSError("disk full")
    store.before = failing(kind, error)
    report = run(store)
    assert not report.did_compact
    assert report.errors == (error,)
    assert store.active == store.raw
    assert store.state == SessionState()
    assert store.summaries == {} or kind is AdvanceState


@pytest.mark.parametrize("when", [CheckGeneration, AdvanceState])
def test_version_conflict_leaves_every_source(when: type[CommitStep]) -> None:
    """spec 05.10"""
    store = DictStore.holding(chat(34))
    other = SessionState(generation=7, last_summary_id="summary:other")

    def rival(step: CommitStep) -> None:
        if isinstance(step, when):
            store.state = other

    store.before = rival
    report = run(store)
    assert not report.did_compact
    assert [type(error) for error in report.errors] == [StaleGeneration]
    assert store.active == store.raw
    assert store.state == other
    assert bool(store.summaries) == (when is AdvanceState)  # only the narrow window leaves one, beside its sources


def test_run_stops_when_a_rival_took_the_session_while_it_resumed() -> None:
    store = DictStore.holding(chat(34))
    store.before = failing(RetireSources, OSError("timeout"), times=2)
    run(store)
    store.ingest(chat(10, start=34))
    plan = plan_compaction(store.view(), lambda _: 30.0, CompactionPolicy(10), Trigger.FORCED)
    assert (len(plan.unfinished), len(plan.clusters)) == (2, 1)
    store.state = SessionState(generation=99)
    active = dict(store.active)
    report = compact(plan, drafter(), store.apply, NOW)
    assert [type(error) for error in report.errors] == [StaleGeneration]
    assert store.active == active


def test_removal_that_died_halfway_is_completed_by_the_next_run() -> None:
    store = DictStore.holding(chat(14))

    def die_halfway(step: CommitStep) -> None:
        if isinstance(step, RetireSources):
            for turn_id in step.turn_ids[:4]:
                del store.active[turn_id]
            store.before = lambda _: None
            raise Killed

    store.before = die_halfway
    with pytest.raises(Killed):
        run(store)
    assert all(store.is_retrievable(turn_id) for turn_id in store.raw)
    report = run(store)
    assert (report.turns_removed, len(store.summaries), len(store.active)) == (6, 1, 4)


def test_failed_removal_keeps_both_and_the_next_run_finishes() -> None:
    """spec 05.10"""
    store = DictStore.holding(chat(14))
    store.before = failing(RetireSources, OSError("timeout"))
    assert not run(store).did_compact
    assert len(store.summaries) == 1
    assert store.active == store.raw
    report = run(store)
    assert (report.did_compact, report.turns_removed, len(store.summaries)) == (True, 10, 1)


def test_success_moves_sources_out_of_view_and_a_second_run_finds_nothing() -> None:
    """spec 05.11 (X23, X24)"""
    store = DictStore.holding(chat(44))
    report = run(store, k=20, trigger=Trigger.EXPLICIT)
    covered = [turn_id for summary in store.summaries.values() for turn_id in summary.source_ids]
    assert report.turns_removed == len(covered) == len(set(covered)) == 40
    assert set(store.active).isdisjoint(covered)
    assert set(covered) <= set(store.raw)
    assert {turn_id for turn_id, into in store.retired_into.items() if into in store.summaries} == set(covered)
    summary = next(iter(store.summaries.values()))
    assert store.search(summary.text)[0] == summary.id
    before = (dict(store.active), dict(store.summaries), store.state)
    for trigger in Trigger:
        again = run(store, k=20, trigger=trigger)
        assert (again.did_compact, again.clusters_formed, again.errors) == (False, 0, ())
    assert (store.active, store.summaries, store.state) == before


def test_state_counts_generations_and_names_the_last_summary() -> None:
    store = DictStore.holding(chat(34))
    run(store)
    assert store.state == SessionState(3, NOW, list(store.summaries)[-1])


def test_summary_says_what_it_covers_and_when() -> None:
    store = DictStore.holding([replace(turn, user="" if turn.id < "t002" else "alice") for turn in chat(14)])
    run(store)
    [summary] = store.summaries.values()
    assert (summary.user, summary.ts) == ("alice", NOW)
    assert (summary.lineage.source_ts_min, summary.lineage.source_ts_max) == (1000.0, 1009.0)
    assert summary.lineage.compacted_at == NOW
    assert summary.decay_rate == pytest.approx(1 - summary.confidence)


def test_compaction_leaves_the_tail_alone() -> None:
    """spec 05.12"""
    store = DictStore.holding(chat(14))
    tail = TailPolicy().select(store.active.values(), lambda _: 30.0).recent
    run(store)
    assert list(store.active.values()) == list(tail)


@pytest.mark.parametrize("kind", STEP_TYPES)
def test_failure_in_one_cluster_does_not_block_the_others(kind: type[CommitStep]) -> None:
    """spec 05.16"""
    store = DictStore.holding(chat(34))
    error = OSError("once")
    store.before = failing(kind, error)
    report = run(store)
    assert report.errors == (error,)
    assert (report.clusters_formed, report.clusters_declined, report.turns_removed) == (3, 1, 20)
    assert all(store.is_retrievable(turn_id) for turn_id in store.raw)


def test_embedder_failing_for_one_cluster_does_not_block_the_others() -> None:
    """spec 05.16 (X27)"""
    store = DictStore.holding(chat(34))

    def embed(texts: Sequence[str]) -> Vectors:
        if any("number12 " in text for text in texts):
            raise TimeoutError("embedder")
        return bag_of_words(texts)

    plan = plan_compaction(store.view(), lambda _: 30.0, CompactionPolicy(10), Trigger.FORCED)
    report = compact(plan, drafter(embed), store.apply, NOW)
    assert [type(error) for error in report.errors] == [TimeoutError]
    assert (report.clusters_declined, report.turns_removed) == (1, 20)
    assert "t012" in store.active


@pytest.mark.parametrize("arrived", [0, 8])
@pytest.mark.parametrize("kind", STEP_TYPES)
def test_killed_run_is_finished_by_the_next_one_without_duplicates(kind: type[CommitStep], arrived: int) -> None:
    """spec 05.10, spec 05.11"""
    store = DictStore.holding(chat(34))
    store.before = failing(kind, Killed())
    with pytest.raises(Killed):
        run(store)
    assert all(store.is_retrievable(turn_id) for turn_id in store.raw)
    store.ingest(chat(arrived, start=34))
    report = run(store)
    assert report.errors == ()
    covered = [turn_id for summary in store.summaries.values() for turn_id in summary.source_ids]
    assert len(covered) == len(set(covered)) == report.turns_removed
    assert set(covered).isdisjoint(store.active)
    assert set(covered) | set(store.active) == set(store.raw)


def test_zombie_that_wakes_after_its_work_was_redone_is_harmless() -> None:
    store = DictStore.holding(chat(14))
    plan = plan_compaction(store.view(), lambda _: 30.0, CompactionPolicy(10), Trigger.FORCED)
    run(store)
    before = (dict(store.active), list(store.summaries), store.state)
    report = compact(plan, drafter(), store.apply, NOW + 1)
    assert [type(error) for error in report.errors] == [StaleGeneration]
    assert (store.active, list(store.summaries), store.state) == before


def test_unfinished_summary_that_reaches_into_the_tail_waits() -> None:
    """spec 05.12"""
    store = DictStore.holding(chat(14))
    store.before = failing(RetireSources, Killed())
    with pytest.raises(Killed):
        run(store)
    report = run(store, tail=TailPolicy(turns=8))
    assert (report.did_compact, report.clusters_formed) == (False, 0)
    assert store.active == store.raw


def test_single_turns_are_declined_and_counted() -> None:
    """X29"""
    store = DictStore.holding([replace(turn, role="user") for turn in chat(7, start=1)])
    report = run(store, k=2)
    assert (report.clusters_formed, report.clusters_declined, report.turns_removed) == (2, 1, 2)
    assert "t003" in store.active


def test_nothing_shrinks_leaves_the_store_unchanged() -> None:
    """spec 05.8"""
    store = DictStore.holding(chat(14))

    def wordy(turns: Sequence[Turn], _: Sequence[SummaryRecord]) -> DraftOutcome:
        texts = [turn.text for turn in turns]
        everything = Draft(" ".join(texts + texts[:1]), "t5", preservation(1, 1), 1.0)
        return climb(ladder(abstractive=True), lambda _: everything, texts)

    plan = plan_compaction(store.view(), lambda _: 30.0, CompactionPolicy(10), Trigger.FORCED)
    report = compact(plan, wordy, store.apply, NOW)
    assert (report.did_compact, report.clusters_declined, report.mean_confidence) == (False, 1, 0.0)
    assert store.applied == []


def scripted(turns: Sequence[Turn], earlier: Sequence[SummaryRecord]) -> DraftOutcome:
    """Alternates methods, and tells in its text how many summaries it knew."""
    method = ("t5", "extractive")[len(earlier) % 2]
    return DraftOutcome(Draft(f"knew {len(earlier)}", method, preservation(1, 1), 0.5 + 0.1 * len(earlier)))


def test_report_names_mixed_methods_and_averages_replaced_clusters() -> None:
    store = DictStore.holding(chat(34))
    plan = plan_compaction(store.view(), lambda _: 30.0, CompactionPolicy(10), Trigger.FORCED)
    report = compact(plan, scripted, store.apply, NOW)
    assert [summary.text for summary in store.summaries.values()] == ["knew 0", "knew 1", "knew 2"]
    assert report.summary_method == "mixed"
    assert report.mean_confidence == pytest.approx(0.6)
    assert run(DictStore.holding(chat(14))).summary_method == "extractive"


@settings(max_examples=200)
@given(st.integers(0, 45), st.integers(2, 12), st.integers(0, 30), st.booleans())
def test_every_turn_stays_reachable_whichever_step_dies(n: int, k: int, dies_at: int, forced: bool) -> None:
    """spec 05.10"""
    store = DictStore.holding(chat(n))
    countdown = iter([*[None] * dies_at, Killed()])

    def before(_: CommitStep) -> None:
        if (death := next(countdown, None)) is not None:
            raise death

    store.before = before
    try:
        run(store, k, Trigger.FORCED if forced else Trigger.EXPLICIT)
    except Killed:
        run(store, k, Trigger.FORCED)
    covered = [turn_id for summary in store.summaries.values() for turn_id in summary.source_ids]
    assert len(covered) == len(set(covered))
    assert set(covered) | set(store.active) == set(store.raw)
    assert set(covered).isdisjoint(store.active)
