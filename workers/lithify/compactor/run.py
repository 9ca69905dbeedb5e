"""Carries out the plan of one session: finishes what an earlier run began, then replaces cluster after cluster.

It runs in the job's own task and awaits every draft and every write, so cancelling the job ends it at the write it
waits for; the next run continues from whatever was written.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from lithify.memory.compaction.clustering import Cluster
from lithify.memory.compaction.commit_steps import (
    AdvanceState,
    CommitStep,
    RetireSources,
    SessionState,
    StaleGeneration,
    finishing_steps,
    make_summary,
    replacing_steps,
)
from lithify.memory.compaction.draft import Draft, DraftOutcome
from lithify.memory.compaction.plan import CompactionPlan, CompactionReport, UnfinishedSummary, make_report
from lithify.memory.compaction.summary import SummaryRecord
from lithify.memory.turn import Turn

DraftTurns = Callable[[Sequence[Turn], Sequence[SummaryRecord]], Awaitable[DraftOutcome]]
"""Drafts a summary of turns, knowing the session's other summaries."""

ApplyStep = Callable[[CommitStep], Awaitable[None]]
"""Carries out one step durably or raises; StaleGeneration when the session has moved on."""


@dataclass(slots=True)
class CompactionRun:
    """One pass over a plan. `retired` are the turns it took out of view; use `execute()` once."""

    plan: CompactionPlan
    draft: DraftTurns
    apply: ApplyStep
    now_ms: float
    retired: list[str] = field(default_factory=list)
    _state: SessionState = field(init=False)
    _replaced: list[SummaryRecord] = field(default_factory=list)
    _errors: list[Exception] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._state = self.plan.view.state

    async def execute(self) -> CompactionReport:
        """Reports what went wrong with single clusters instead of raising it.

        A stale generation ends the run, because the rest of the plan is out of date too.
        """
        for item in self.plan.unfinished:
            if not self._is_stale:
                await self._finish(item)
        for cluster in self.plan.clusters:
            if not self._is_stale and cluster.is_worth_a_summary:
                await self._replace(cluster)
        return make_report(self.plan, self._replaced, len(self.retired), self._errors)

    @property
    def _is_stale(self) -> bool:
        return any(isinstance(error, StaleGeneration) for error in self._errors)

    async def _finish(self, item: UnfinishedSummary) -> None:
        await self._commit(item.summary, finishing_steps(item.summary, item.active_ids, self._state))

    async def _replace(self, cluster: Cluster) -> None:
        draft = await self._write_draft(cluster.melting)
        if draft is None:
            return
        summary = make_summary(self.plan.view.session, cluster.turns, draft, self.now_ms)
        await self._commit(summary, replacing_steps(summary, cluster, self._state))

    async def _write_draft(self, turns: Sequence[Turn]) -> Draft | None:
        try:
            outcome = await self.draft(turns, self._known_summaries())
        except Exception as error:  # noqa: BLE001 - this cluster stays raw, the others go on (X27)
            self._errors.append(error)
            return None
        self._errors.extend(outcome.errors)
        return outcome.draft

    async def _commit(self, summary: SummaryRecord, steps: Iterable[CommitStep]) -> None:
        """Applies the steps up to the first that fails."""
        for step in steps:
            try:
                await self.apply(step)
            except Exception as error:  # noqa: BLE001 - one cluster's failure must not stop the others (X27)
                self._errors.append(error)
                return
            if isinstance(step, AdvanceState):
                self._state = step.state
            elif isinstance(step, RetireSources):
                self.retired.extend(step.turn_ids)
        self._replaced.append(summary)

    def _known_summaries(self) -> tuple[SummaryRecord, ...]:
        """Returns those that were read, and those of this run; a finished one is both."""
        by_id = {summary.id: summary for summary in (*self.plan.view.summaries, *self._replaced)}
        return tuple(by_id.values())
