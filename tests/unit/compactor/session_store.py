"""A session in a dict: carries out commit steps, and fails or dies at any of them on request."""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lithify.compactor.run import CompactionRun
from lithify.memory.compaction.commit_steps import (
    AdvanceState,
    CheckGeneration,
    CommitStep,
    KeepShards,
    RetireSources,
    SessionState,
    StoreSummary,
    require_generation,
)
from lithify.memory.compaction.draft import Abstractive, DraftOutcome, Embed, draft_cluster
from lithify.memory.compaction.guidance import GuidanceShard
from lithify.memory.compaction.plan import CompactionPlan, CompactionReport, SessionView
from lithify.memory.compaction.summary import SummaryRecord
from lithify.memory.turn import Turn

SESSION = "s1"
STEP_TYPES = (CheckGeneration, KeepShards, StoreSummary, AdvanceState, RetireSources)


class Killed(BaseException):
    """The process died; nothing may catch this."""


def bag_of_words(texts: Sequence[str]) -> NDArray[np.float64]:
    """A deterministic embedder: equal words, equal directions."""
    rows = np.zeros((len(texts), 64))
    for row, text in enumerate(texts):
        for word in re.findall(r"\w+", text.lower()):
            rows[row, crc32(word.encode()) % 64] += 1.0
    return rows


Drafter = Callable[[Sequence[Turn], Sequence[SummaryRecord]], DraftOutcome]


def drafter(embed: Embed = bag_of_words, abstractive: Abstractive | None = None) -> Drafter:
    return lambda turns, earlier: draft_cluster(turns, earlier, embed, abstractive)


def compact(
    plan: CompactionPlan, draft: Drafter, apply: Callable[[CommitStep], None], now_ms: float
) -> CompactionReport:
    """Carries the plan out as the worker does, without a store, a server or a thread."""

    async def draft_turns(turns: Sequence[Turn], earlier: Sequence[SummaryRecord]) -> DraftOutcome:
        return draft(turns, earlier)

    async def apply_step(step: CommitStep) -> None:
        apply(step)

    return asyncio.run(CompactionRun(plan, draft_turns, apply_step, now_ms).execute())


def chat(turns: int, start: int = 0) -> list[Turn]:
    """Alternating user and assistant turns, each about something of its own."""
    roles = ("user", "assistant")
    return [
        Turn(
            id=f"t{i:03}",
            ts=1000.0 + i,
            role=roles[i % 2],
            text=f"We talked about topic number{i} in the garden, and the colour of item{i} was settled that day.",
            user="alice",
        )
        for i in range(start, start + turns)
    ]


@dataclass
class DictStore:
    active: dict[str, Turn] = field(default_factory=dict)
    raw: dict[str, Turn] = field(default_factory=dict)
    retired_into: dict[str, str] = field(default_factory=dict)
    summaries: dict[str, SummaryRecord] = field(default_factory=dict)
    shards: dict[str, GuidanceShard] = field(default_factory=dict)
    state: SessionState = field(default_factory=SessionState)
    before: Callable[[CommitStep], None] = lambda _: None
    applied: list[CommitStep] = field(default_factory=list)

    @classmethod
    def holding(cls, turns: Iterable[Turn]) -> "DictStore":
        store = cls()
        store.ingest(turns)
        return store

    def ingest(self, turns: Iterable[Turn]) -> None:
        for turn in turns:
            self.active[turn.id] = self.raw[turn.id] = turn

    def view(self) -> SessionView:
        return SessionView(SESSION, tuple(self.active.values()), tuple(self.summaries.values()), self.state)

    def apply(self, step: CommitStep) -> None:
        self.before(step)
        match step:
            case CheckGeneration(generation):
                require_generation(self.state, generation)
            case KeepShards(shards):
                self.shards.update((shard.source_turn_id, shard) for shard in shards)
            case StoreSummary(summary):
                self.summaries[summary.id] = summary
            case AdvanceState():
                require_generation(self.state, step.generation)
                self.state = step.state
            case RetireSources(turn_ids, into):
                for turn_id in turn_ids:
                    self.active.pop(turn_id, None)
                    self.retired_into[turn_id] = into
        self.applied.append(step)

    def search(self, query: str) -> list[str]:
        """Ids of the active view by similarity, best first."""
        texts = {turn.id: turn.text for turn in self.active.values()}
        texts |= {summary.id: summary.text for summary in self.summaries.values()}
        scores = bag_of_words(list(texts.values())) @ bag_of_words([query])[0]
        return [record for _, record in sorted(zip(-scores, texts, strict=True))]

    def is_retrievable(self, turn_id: str) -> bool:
        """From the active view, or by way of a summary that stands for it."""
        return turn_id in self.active or any(turn_id in s.source_ids for s in self.summaries.values())


def failing(kind: type[CommitStep], error: BaseException, times: int = 1) -> Callable[[CommitStep], None]:
    """Raises before the first `times` steps of a kind."""
    left = [error] * times

    def before(step: CommitStep) -> None:
        if isinstance(step, kind) and left:
            raise left.pop()

    return before
