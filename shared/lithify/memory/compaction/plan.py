"""Decides what one compaction run replaces and in which order, leaving every write to its caller (spec 05)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from lithify.errors import Invalid
from lithify.memory.compaction.clustering import MIN_TURNS, TARGET_SIZE, Cluster, cut_evenly
from lithify.memory.compaction.commit_steps import SessionState
from lithify.memory.compaction.summary import SummaryRecord
from lithify.memory.prompt.tail import Cost, Tail, TailPolicy
from lithify.memory.turn import Turn, sort_chronologically

MIXED = "mixed"


class Trigger(Enum):
    EXPLICIT = "explicit"
    FORCED = "forced"
    AUTOMATIC = "automatic"


GuidanceDetector = Literal["standing", "authored", "off"]
"""What is kept word for word: standing instructions, whatever reads like an authored rule (the sources), or nothing."""


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    target_size: int = TARGET_SIZE
    tail: TailPolicy = field(default_factory=TailPolicy)
    guidance: GuidanceDetector = "standing"


DEFAULT_POLICY = CompactionPolicy()


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session as it was read: its active records and summaries, and the generation they belong to."""

    session: str
    records: tuple[Turn, ...]
    summaries: tuple[SummaryRecord, ...] = ()
    state: SessionState = field(default_factory=SessionState)


@dataclass(frozen=True, slots=True)
class UnfinishedSummary:
    """A summary that some earlier run stored without retiring all of its sources."""

    summary: SummaryRecord
    active_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    view: SessionView
    tail: Tail
    unfinished: tuple[UnfinishedSummary, ...]
    clusters: tuple[Cluster, ...]

    @property
    def considered_ids(self) -> set[str]:
        """The ids of all turns that lie in a cluster."""
        return {turn.id for cluster in self.clusters for turn in cluster.turns}


@dataclass(frozen=True, slots=True)
class CompactionReport:
    did_compact: bool
    clusters_formed: int
    clusters_declined: int
    turns_removed: int
    summary_method: str
    mean_confidence: float
    errors: tuple[Exception, ...]


def plan_compaction(
    view: SessionView,
    cost: Cost,
    policy: CompactionPolicy = DEFAULT_POLICY,
    trigger: Trigger = Trigger.EXPLICIT,
) -> CompactionPlan:
    """Plans what to finish and which groups of turns to replace; an empty plan means that there is nothing to do.

    The caller may refine the clusters before it carries the plan out: cut them where they do not cohere, and name the
    turns to protect. Raises Invalid for a blank session id.
    """
    if not view.session.strip():
        raise Invalid("compaction needs a session id, got a blank one")
    tail = policy.tail.select(eligible(view.records), cost)
    covered = {turn_id for summary in view.summaries for turn_id in summary.source_ids}
    older = [turn for turn in tail.older if turn.id not in covered]
    groups = cut_evenly(older, policy.target_size) if is_due(len(older), policy.target_size, trigger) else []
    return CompactionPlan(view, tail, find_unfinished(view.summaries, tail), tuple(map(Cluster, groups)))


def eligible(records: Iterable[Turn]) -> tuple[Turn, ...]:
    """Returns raw turns only, in order: summaries and guidance shards are never compacted again."""
    return sort_chronologically(record for record in records if record.kind == "turn")


def is_due(older: int, target_size: int, trigger: Trigger) -> bool:
    """Lets only a plain request wait for a full cluster, which avoids tiny summaries (X22)."""
    if older < MIN_TURNS:
        return False
    full = target_size if target_size > 0 else TARGET_SIZE
    return trigger is not Trigger.EXPLICIT or older >= full


def find_unfinished(summaries: Iterable[SummaryRecord], tail: Tail) -> tuple[UnfinishedSummary, ...]:
    """Finds summaries beside active sources.

    One that reaches into the tail waits: the tail may have grown by configuration since.
    """
    recent = {turn.id for turn in tail.recent}
    active = {turn.id for turn in tail.older}
    waiting = (
        UnfinishedSummary(summary, tuple(turn_id for turn_id in summary.source_ids if turn_id in active))
        for summary in summaries
        if recent.isdisjoint(summary.source_ids)
    )
    return tuple(item for item in waiting if item.active_ids)


def make_report(
    plan: CompactionPlan, replaced: Sequence[SummaryRecord], turns_removed: int, errors: Iterable[Exception]
) -> CompactionReport:
    """Reports a run of the plan; `replaced` are the summaries whose sources it retired."""
    formed = len(plan.unfinished) + len(plan.clusters)
    methods = {summary.method for summary in replaced}
    total = math.fsum(summary.confidence for summary in replaced)
    return CompactionReport(
        did_compact=bool(replaced),
        clusters_formed=formed,
        clusters_declined=formed - len(replaced),
        turns_removed=turns_removed,
        summary_method=MIXED if len(methods) > 1 else "".join(methods),
        mean_confidence=total / max(len(replaced), 1),
        errors=tuple(errors),
    )
