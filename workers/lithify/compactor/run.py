"""One compaction of one session, as a thread does it: plan, guard, draft, commit."""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from lithify.compactor.committing import Committer
from lithify.compactor.parts import Compactor
from lithify.compactor.protection import Protection
from lithify.compactor.session_view import Session
from lithify.compactor.vectors import KnownVectors
from lithify.errors import Unavailable
from lithify.memory.compaction.cohesion import UNRELATED_TEXTS, CohesionGuard, Piece, likeness
from lithify.memory.compaction.draft import Draft, Embed, draft_cluster
from lithify.memory.compaction.ladder import Climb
from lithify.memory.compaction.plan import CompactionPlan, CompactionReport, Trigger, compact, plan_compaction
from lithify.memory.compaction.summary_record import SummaryRecord
from lithify.memory.prompt.composition import entry_item
from lithify.memory.prompt.rendering import TokenCounter
from lithify.memory.tokens import estimate_tokens
from lithify.memory.turn import Turn


class CompactionRun:
    """Made in the loop, executed once in a thread. `left_raw` names what a run looked at and left as it was."""

    def __init__(self, parts: Compactor, session: Session, trigger: Trigger, left_raw: str) -> None:
        self._parts = parts
        self._session = session
        self._trigger = trigger
        self._embed = KnownVectors(session, parts.embedder)
        self.left_raw = left_raw
        self._committer = Committer(
            session,
            parts.store,
            parts.redis,
            parts.states,
            parts.embedder,
            parts.analyser,
            asyncio.get_running_loop(),
        )

    def abandon(self) -> None:
        """The thread, should it still run, ends before its next write."""
        self._committer.abandoned.set()

    def execute(self) -> CompactionReport:
        """Raises Unavailable, before anything is written, if the model does not answer."""
        plan = self._plan()
        considered = {turn.id for cluster in plan.clusters for turn in cluster.turns}
        if considered and self._digest(considered) == self.left_raw:
            plan = replace(plan, clusters=())
        report = compact(plan, self._draft, self._committer.apply, self._parts.clock())
        if plan.clusters and not report.errors:
            self.left_raw = self._digest(considered - self._committer.retired)
        return report

    def _plan(self) -> CompactionPlan:
        protection = Protection(self._session.memories, self._embed)
        return plan_compaction(
            self._session.view,
            partial(rendered_cost, count=self._parts.count),
            self._parts.policy,
            self._trigger,
            protects=protection.covers,
            cohere=partial(related_pieces, self._embed),
        )

    def _draft(self, turns: Sequence[Turn], earlier: Sequence[SummaryRecord]) -> Climb[Draft]:
        return draft_cluster(turns, earlier, self._embed, self._parts.abstractive)

    def _digest(self, turn_ids: Iterable[str]) -> str:
        """Names turns and what judged them: with another model or size they deserve a new look."""
        writer = self._parts.abstractive.method if self._parts.abstractive else None
        judge = [self._parts.embedder.fingerprint, self._parts.policy.target_size, writer]
        return hashlib.sha256(json.dumps([judge, sorted(turn_ids)]).encode()).hexdigest()


def rendered_cost(turn: Turn, count: TokenCounter = estimate_tokens) -> float:
    """What assembly pays for the turn in the recent tail."""
    return entry_item(turn.id, turn.text, turn.role, "session", count=count).cost


def related_pieces(embed: Embed, turns: tuple[Turn, ...]) -> list[Piece]:
    """Raises Unavailable if the model does not answer; turns that cannot be embedded stay together."""
    guard = CohesionGuard(background(embed))
    try:
        vectors = embed([turn.text for turn in turns])
    except Exception:  # noqa: BLE001 - drafting meets it again, reports it, and no other cluster is lost by it (X27)
        return [Piece(turns)]
    return guard.pieces(turns, vectors)


def background(embed: Embed) -> float:
    """Asks the model, not its health, which speaks of the latest call: without calls it would never get well."""
    try:
        vectors = embed(UNRELATED_TEXTS)
    except Exception as error:
        raise Unavailable(f"the extractive summariser is not ready: {type(error).__name__}") from error
    return likeness(vectors)
