"""Decides what one compaction run replaces and in which order, leaving every write to its caller (spec 05)."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from lithify.errors import Invalid, Unavailable
from lithify.memory.compaction.clustering import TARGET_SIZE, clusters
from lithify.memory.compaction.cohesion import Piece
from lithify.memory.compaction.commit_steps import (
    CommitStep,
    SessionState,
    StaleGeneration,
    commit,
    finishing_steps,
    replacing_steps,
    summary_of,
)
from lithify.memory.compaction.draft import Draft
from lithify.memory.compaction.guidance import shard_of
from lithify.memory.compaction.ladder import Climb
from lithify.memory.compaction.summary_record import SummaryRecord
from lithify.memory.prompt.tail import Cost, Tail, TailPolicy
from lithify.memory.turn import Turn, sort_chronologically

MIN_TURNS = 2  # one turn is its own best summary
MIXED = "mixed"


class Trigger(Enum):
    EXPLICIT = "explicit"
    FORCED = "forced"
    AUTOMATIC = "automatic"


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    target_size: int = TARGET_SIZE
    tail: TailPolicy = field(default_factory=TailPolicy)


DEFAULT_POLICY = CompactionPolicy()


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session as it was read: its active records and summaries, and the generation they belong to."""

    session: str
    records: tuple[Turn, ...]
    summaries: tuple[SummaryRecord, ...] = ()
    state: SessionState = field(default_factory=SessionState)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Turns that one summary will cover; the protected ones live on as shards and are not melted into it.

    Unrelated turns are never merged, so such a cluster is declined.
    """

    turns: tuple[Turn, ...]
    protected: tuple[Turn, ...] = ()
    related: bool = True

    @property
    def melted(self) -> tuple[Turn, ...]:
        return tuple(turn for turn in self.turns if turn not in self.protected)


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A summary some earlier run stored without retiring all of its sources."""

    summary: SummaryRecord
    active_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    view: SessionView
    tail: Tail
    unfinished: tuple[Unfinished, ...]
    clusters: tuple[Cluster, ...]


@dataclass(frozen=True, slots=True)
class CompactionReport:
    did_compact: bool
    clusters_formed: int
    clusters_declined: int
    turns_removed: int
    summary_method: str
    mean_confidence: float
    errors: tuple[Exception, ...]


Cohere = Callable[[tuple[Turn, ...]], Sequence[Piece]]
Drafter = Callable[[Sequence[Turn], Sequence[SummaryRecord]], Climb[Draft]]
Apply = Callable[[CommitStep], None]


def plan_compaction(
    view: SessionView,
    cost: Cost,
    policy: CompactionPolicy = DEFAULT_POLICY,
    trigger: Trigger = Trigger.EXPLICIT,
    protects: Callable[[Turn], bool] = lambda _: False,
    cohere: Cohere = lambda turns: (Piece(turns),),
    extractive_ready: bool = True,
) -> CompactionPlan:
    """Changes nothing; an empty plan is the answer for a session with nothing to compact."""
    _require_runnable(view.session, extractive_ready)
    tail = policy.tail.select(eligible(view.records), cost)
    unfinished = _unfinished(view.summaries, tail)
    covered = {turn_id for summary in view.summaries for turn_id in summary.source_ids}
    older = [turn for turn in tail.older if turn.id not in covered]
    groups = clusters(older, policy.target_size) if is_due(len(older), policy.target_size, trigger) else []
    pieces = [piece for group in groups for piece in cohere(group)]
    return CompactionPlan(view, tail, unfinished, tuple(_cluster(piece, protects) for piece in pieces))


def eligible(records: Iterable[Turn]) -> tuple[Turn, ...]:
    """Raw turns only: summaries and guidance shards are never compacted again."""
    return sort_chronologically(record for record in records if record.kind == "turn")


def is_due(older: int, target_size: int, trigger: Trigger) -> bool:
    """Only a plain request waits for a full cluster, which avoids tiny summaries (X22)."""
    if older < MIN_TURNS:
        return False
    full = target_size if target_size > 0 else TARGET_SIZE
    return trigger is not Trigger.EXPLICIT or older >= full


def compact(plan: CompactionPlan, draft: Drafter, apply: Apply, now_ms: float) -> CompactionReport:
    """Finishes what an earlier run began, then replaces cluster after cluster.

    `apply` carries out one step durably or raises; it raises `StaleGeneration` when the session has moved on,
    which ends the run because the rest of the plan is out of date too.
    """
    run = _Run(plan, draft, apply, now_ms, plan.view.state)
    for item in plan.unfinished:
        run.finish(item)
    for cluster in plan.clusters:
        run.replace(cluster)
    return run.report()


@dataclass(slots=True)
class _Run:
    plan: CompactionPlan
    draft: Drafter
    apply: Apply
    now_ms: float
    state: SessionState
    replaced: list[SummaryRecord] = field(default_factory=list)
    turns_removed: int = 0
    errors: list[Exception] = field(default_factory=list)

    @property
    def stale(self) -> bool:
        return any(isinstance(error, StaleGeneration) for error in self.errors)

    def finish(self, item: Unfinished) -> None:
        if not self.stale:
            steps = finishing_steps(item.summary, item.active_ids, self.state)
            self._commit(item.summary, steps, len(item.active_ids))

    def replace(self, cluster: Cluster) -> None:
        draft = None if self.stale or not cluster.related else self._drafted(cluster.melted)
        if draft is None:
            return
        session = self.plan.view.session
        summary = summary_of(session, cluster.turns, draft, self.now_ms)
        shards = [shard_of(turn, session) for turn in cluster.protected]
        self._commit(summary, replacing_steps(summary, shards, self.state), len(cluster.turns))

    def report(self) -> CompactionReport:
        formed = len(self.plan.unfinished) + len(self.plan.clusters)
        methods = {summary.method for summary in self.replaced}
        total = math.fsum(summary.confidence for summary in self.replaced)
        return CompactionReport(
            did_compact=bool(self.replaced),
            clusters_formed=formed,
            clusters_declined=formed - len(self.replaced),
            turns_removed=self.turns_removed,
            summary_method=MIXED if len(methods) > 1 else "".join(methods),
            mean_confidence=total / max(len(self.replaced), 1),
            errors=tuple(self.errors),
        )

    def _commit(self, summary: SummaryRecord, steps: Iterable[CommitStep], turns: int) -> None:
        outcome = commit(steps, self.state, self.apply)
        self.state = outcome.state
        if outcome.error is not None:
            self.errors.append(outcome.error)
            return
        self.replaced.append(summary)
        self.turns_removed += turns

    def _drafted(self, turns: Sequence[Turn]) -> Draft | None:
        """Declines single turns: a summary of one saves nothing (X29)."""
        if len(turns) < MIN_TURNS:
            return None
        try:
            climbed = self.draft(turns, self._known_summaries())
        except Exception as error:  # noqa: BLE001 - this cluster stays raw, the others go on (X27)
            self.errors.append(error)
            return None
        self.errors.extend(climbed.errors)
        return climbed.draft

    def _known_summaries(self) -> tuple[SummaryRecord, ...]:
        """Those read, and those of this run; a finished one is both."""
        known = {summary.id: summary for summary in (*self.plan.view.summaries, *self.replaced)}
        return tuple(known.values())


def _require_runnable(session: str, extractive_ready: bool) -> None:
    if not session.strip():
        raise Invalid("compaction needs a session id, got a blank one")
    if not extractive_ready:
        raise Unavailable("the extractive summariser is not ready; compaction changed nothing")


def _unfinished(summaries: Iterable[SummaryRecord], tail: Tail) -> tuple[Unfinished, ...]:
    """A summary that reaches into the tail waits: the tail may have grown by configuration since."""
    recent = {turn.id for turn in tail.recent}
    active = {turn.id for turn in tail.older}
    waiting = (
        Unfinished(summary, tuple(turn_id for turn_id in summary.source_ids if turn_id in active))
        for summary in summaries
        if recent.isdisjoint(summary.source_ids)
    )
    return tuple(item for item in waiting if item.active_ids)


def _cluster(piece: Piece, protects: Callable[[Turn], bool]) -> Cluster:
    return Cluster(piece.turns, tuple(turn for turn in piece.turns if protects(turn)), piece.related)
