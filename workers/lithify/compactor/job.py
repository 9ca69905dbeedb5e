"""Compacts one session: reads it, plans, replaces cluster after cluster, and settles the account."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from threading import Event
from typing import Final

import structlog
from pydantic import JsonValue
from redis.asyncio import Redis

from lithify.compaction import Cause, SessionKey, parse_cause
from lithify.compactor.committer import Committer
from lithify.compactor.planning import KnownVectors, plan_session
from lithify.compactor.run import CompactionRun
from lithify.compactor.session import Session, SessionStates, read_session
from lithify.embedding import Embedder
from lithify.errors import Unavailable
from lithify.events import Clock
from lithify.jobs import JobContext
from lithify.memory.compaction.commit_steps import StaleGeneration
from lithify.memory.compaction.draft import Abstractive, DraftOutcome, Embed, IsCancelled, draft_cluster
from lithify.memory.compaction.limits import RECALL_COMPACTION, CompactionLimits
from lithify.memory.compaction.plan import CompactionPlan, CompactionPolicy, CompactionReport, Trigger
from lithify.memory.compaction.summary import SummaryRecord
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.prompt.rendering import TokenCounter
from lithify.memory.tokens import estimate_lines
from lithify.memory.turn import Turn
from lithify.store import VectorStore
from lithify.streams import crash_point

TRIGGER_OF: Final = {
    Cause.TOKENS: Trigger.AUTOMATIC,
    Cause.IDLE: Trigger.AUTOMATIC,
    Cause.REQUEST: Trigger.EXPLICIT,
    Cause.FORCE: Trigger.FORCED,
}

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Compactor:
    """Holds what the job works with, once per process.

    `tokens` is how much a session must hold for the token trigger to mean it. `policy.tail` and `count` are to be those
    of assembly, or the two disagree about what is recent (X38).
    """

    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser
    redis: Redis
    partitions: int
    clock: Clock
    tokens: int
    policy: CompactionPolicy = field(default_factory=CompactionPolicy)
    abstractive: Abstractive | None = None
    limits: CompactionLimits = RECALL_COMPACTION
    count: TokenCounter = estimate_lines

    @property
    def states(self) -> SessionStates:
        return SessionStates(self.redis, self.partitions)

    def plan(self, session: Session, embed: Embed, trigger: Trigger) -> CompactionPlan:
        """Plans a session by this policy; work for a processor, beside the loop."""
        return plan_session(
            session, embed, policy=self.policy, trigger=trigger, cohesion=self.limits.cohesion, count=self.count
        )

    def draft(
        self, turns: Sequence[Turn], earlier: Sequence[SummaryRecord], embed: Embed, is_cancelled: IsCancelled
    ) -> DraftOutcome:
        """Drafts a summary within these limits; work for a processor, beside the loop."""
        return draft_cluster(
            turns,
            earlier,
            embed,
            abstractive=self.abstractive,
            is_cancelled=is_cancelled,
            limits=self.limits,
            background=self.embedder.manifest.background.documents,
        )

    def digest(self, turn_ids: Iterable[str]) -> str:
        """Names turns and what judged them: with another model or size they deserve a new look."""
        writer = self.abstractive.method if self.abstractive else None
        judge = [self.embedder.fingerprint, self.policy.target_size, writer, asdict(self.limits)]
        return hashlib.sha256(json.dumps([judge, sorted(turn_ids)]).encode()).hexdigest()


async def compact_session(
    context: JobContext[Compactor], *, tenant: str, user: str, session: str, trigger: str
) -> JsonValue:
    """Replaces what is old by summaries; a run that finds nothing new changes nothing.

    Raises Unavailable when a server or the model is away and StaleGeneration when the session moved on meanwhile: in
    both cases what was committed stays, and the next attempt goes on from there.
    """
    parts = context.parts
    key = SessionKey(tenant, user, session)
    cause = parse_cause(trigger)
    progress = await parts.states.read(key)
    found = await read_session(parts.store, key, progress.state)
    if cause is Cause.TOKENS and found.uncovered_tokens < parts.tokens:
        # Turns delivered twice were counted twice; what is there decides, not the counter.
        await parts.states.settle(key, progress.tokens - found.uncovered_tokens)
        return {"did_compact": False, "uncovered_tokens": found.uncovered_tokens}
    report, left_raw = await replace_old_turns(context, found, TRIGGER_OF[cause], progress.left_raw)
    raise_what_a_retry_mends(report.errors)
    crash_point("compact_before_settle")
    await parts.states.settle(key, progress.tokens, left_raw)
    return result_of(report)


async def replace_old_turns(
    context: JobContext[Compactor], session: Session, trigger: Trigger, left_raw: str
) -> tuple[CompactionReport, str]:
    """Plans and carries out the plan; returns the report, and the digest of what was looked at and left as it was.

    What an earlier run left raw, by its digest `left_raw`, is not looked at again. Raises Unavailable, before anything
    is written, if the model does not answer.
    """
    parts = context.parts
    embed = KnownVectors(session, parts.embedder)
    plan = await context.offload(parts.plan, session, embed, trigger)
    considered = plan.considered_ids
    if considered and parts.digest(considered) == left_raw:
        plan = replace(plan, clusters=())
    committer = Committer(
        session=session,
        store=parts.store,
        redis=parts.redis,
        states=parts.states,
        embedder=parts.embedder,
        analyser=parts.analyser,
        executor=context.executor,
    )
    stopped = Event()

    async def draft(turns: Sequence[Turn], earlier: Sequence[SummaryRecord]) -> DraftOutcome:
        return await context.offload(parts.draft, turns, earlier, embed, stopped.is_set)

    run = CompactionRun(plan, draft, committer.apply, parts.clock())
    try:
        report = await run.execute()
    finally:
        # A thread cannot be cancelled: this ends a decoding that a cancelled job left behind (spec 05 §6).
        stopped.set()
    if plan.clusters and not report.errors:
        left_raw = parts.digest(considered.difference(run.retired))
    return report, left_raw


def raise_what_a_retry_mends(errors: Iterable[Exception]) -> None:
    """Raises the first outage or stale generation; everything else cost its own cluster only, which stays raw."""
    for error in errors:
        # The type only: an error's words may quote what a user said.
        log.warning("compaction_error", error=type(error).__name__)
        if isinstance(error, Unavailable | StaleGeneration):
            raise error


def result_of(report: CompactionReport) -> dict[str, JsonValue]:
    """Returns the report as the job's result: the types of errors only."""
    return {
        "did_compact": report.did_compact,
        "clusters_formed": report.clusters_formed,
        "clusters_declined": report.clusters_declined,
        "turns_removed": report.turns_removed,
        "summary_method": report.summary_method,
        "mean_confidence": report.mean_confidence,
        "errors": [type(error).__name__ for error in report.errors],
    }
