"""Orders the writes that replace a cluster, so that a crash between any two of them loses no fact (spec 05 §9).

The store has no transactions, so the steps are arranged for it: whatever can still fail comes before the generation
is taken, and sources retire last. A summary that stands beside its sources is therefore always an unfinished commit,
and any later run can finish it. Every step may be repeated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lithify.errors import LithifyError
from lithify.memory.compaction.clustering import Cluster
from lithify.memory.compaction.draft import Draft
from lithify.memory.compaction.guidance import GuidanceShard, make_shard
from lithify.memory.compaction.preservation import decay_rate
from lithify.memory.compaction.summary import Lineage, SummaryRecord, summary_id
from lithify.memory.tokens import estimate_tokens
from lithify.memory.turn import Turn


class StaleGeneration(LithifyError):
    """Another compaction changed this session since it was read; its turns were left as they are."""


@dataclass(frozen=True, slots=True)
class SessionState:
    generation: int = 0
    last_compacted_at: float = 0.0
    last_summary_id: str = ""


@dataclass(frozen=True, slots=True)
class CheckGeneration:
    """Refuses before anything is written; `AdvanceState` closes the window that remains."""

    generation: int


@dataclass(frozen=True, slots=True)
class KeepShards:
    """Stores the protected turns word for word, before anything may take them out of view."""

    shards: tuple[GuidanceShard, ...]


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """Puts the summary into the session's active view, where recall can find it (X24)."""

    summary: SummaryRecord


@dataclass(frozen=True, slots=True)
class AdvanceState:
    """Compares and swaps: it succeeds only while the stored generation is still `generation`."""

    generation: int
    state: SessionState


@dataclass(frozen=True, slots=True)
class RetireSources:
    """Takes the turns out of the active view, never out of raw history; without it every run would summarise them
    again (X23)."""

    turn_ids: tuple[str, ...]
    compacted_into: str


CommitStep = CheckGeneration | KeepShards | StoreSummary | AdvanceState | RetireSources


def require_generation(current: SessionState, generation: int) -> None:
    """Raises StaleGeneration if the session is not at `generation` any more."""
    if current.generation != generation:
        raise StaleGeneration(
            f"session was at generation {generation} when read and is at {current.generation} now; compact it again"
        )


def replacing_steps(summary: SummaryRecord, cluster: Cluster, state: SessionState) -> tuple[CommitStep, ...]:
    """Returns everything that turns a cluster into `summary`, in order."""
    shards = tuple(make_shard(turn, summary.session) for turn in cluster.protected)
    keeping: tuple[CommitStep, ...] = (KeepShards(shards),) if shards else ()
    check, *taking_over = finishing_steps(summary, summary.source_ids, state)
    return (check, *keeping, StoreSummary(summary), *taking_over)


def finishing_steps(summary: SummaryRecord, active_ids: Iterable[str], state: SessionState) -> tuple[CommitStep, ...]:
    """Returns what is left to do for a stored summary whose sources are still active."""
    compacted_at = max(state.last_compacted_at, summary.ts)
    advanced = SessionState(state.generation + 1, compacted_at, summary.id)
    return (
        CheckGeneration(state.generation),
        AdvanceState(state.generation, advanced),
        RetireSources(tuple(active_ids), summary.id),
    )


def make_summary(session: str, turns: Sequence[Turn], draft: Draft, now_ms: float) -> SummaryRecord:
    """Makes the record that will stand for `turns`, which are in chronological order."""
    source_ids = tuple(turn.id for turn in turns)
    return SummaryRecord(
        id=summary_id(session, source_ids),
        session=session,
        user=next((turn.user for turn in turns if turn.user), ""),
        ts=now_ms,
        text=draft.text,
        method=draft.method,
        token_estimate=estimate_tokens(draft.text),  # never a word or decoder count (X11)
        confidence=draft.confidence,
        decay_rate=decay_rate(draft.confidence),
        align=draft.measured.align,
        cover=draft.measured.cover,
        conf_embed=draft.measured.conf_embed,
        conf_decoder=draft.conf_decoder,
        lineage=Lineage(
            source_turn_ids=source_ids,
            source_ts_min=turns[0].ts,
            source_ts_max=turns[-1].ts,
            compacted_at=now_ms,
            method=draft.method,
            confidence=draft.confidence,
            support_summary_ids=draft.prior.summary_ids,
            support_tokens=draft.prior.tokens,
        ),
    )
