"""Carries out the commit steps of one session against the store and Redis; each may be repeated."""

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from redis.asyncio import Redis

from lithify.compactor.records import earliest_acceptance, summary_memory, summary_point
from lithify.compactor.session import Session, SessionStates
from lithify.embedding import Embedder
from lithify.indexing import embed_tiers, lexical_vector
from lithify.memory.compaction.commit_steps import (
    AdvanceState,
    CheckGeneration,
    CommitStep,
    KeepShards,
    RetireSources,
    StaleGeneration,
    StoreSummary,
)
from lithify.memory.compaction.guidance import GuidanceShard
from lithify.memory.compaction.summary import SummaryRecord
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import LEXICAL, TIER_NAMES, Record, VectorStore, Where
from lithify.store.guidance_record import make_guidance
from lithify.store.memory_record import COLLECTION, PIECE
from lithify.streams import Receipts, crash_point, generations


@dataclass(frozen=True, slots=True)
class Committer:
    """Writes what a compaction decided; only embedding a summary leaves the loop, for the executor."""

    session: Session
    store: VectorStore
    redis: Redis
    states: SessionStates
    embedder: Embedder
    analyser: LexicalAnalyser
    executor: Executor

    async def apply(self, step: CommitStep) -> None:
        """Carries out one step, durably on return.

        Raises StaleGeneration if the session has moved on, Unavailable if a server is away.
        """
        match step:
            case CheckGeneration(generation):
                await self.states.check(self.session.key, generation)
            case KeepShards(shards):
                await self._keep(shards)
                crash_point("compact_after_shards")
            case StoreSummary(summary):
                await self._store(summary)
                crash_point("compact_after_summary")
            case AdvanceState():
                await self.states.advance(self.session.key, step)
                crash_point("compact_after_state")
            case RetireSources(turn_ids, summary):
                await self._retire(turn_ids, summary)
                crash_point("compact_after_retire")

    async def _keep(self, shards: Sequence[GuidanceShard]) -> None:
        key = self.session.key
        points = self._points(shard.source_turn_id for shard in shards)
        found = await self.store.fetch(key.scope, COLLECTION, points, with_vectors=(*TIER_NAMES, LEXICAL))
        by_turn = {record.payload["event_id"]: record for record in found}
        # A turn that was forgotten since it was read leaves no shard.
        kept = [(by_turn[shard.source_turn_id], shard) for shard in shards if shard.source_turn_id in by_turn]
        records = [make_guidance(turn, self._family, shard.scope) for turn, shard in kept]
        await self.store.upsert(key.scope, COLLECTION, records)
        await generations.bump(self.redis, key.tenant, generations.durable_subject(key.user))

    async def _store(self, summary: SummaryRecord) -> None:
        scope = self.session.key.scope
        points = self._points(summary.source_ids)
        record = await asyncio.get_running_loop().run_in_executor(self.executor, self._make_record, summary)
        active = await self.store.count(scope, COLLECTION, Where().ids(points).equals("active", True))
        # The generation is compared afterwards; this spares the store a stray summary of what a rival has compacted,
        # or of what was forgotten, while this process slept.
        if active != len(points):
            raise StaleGeneration(f"only {active} of {len(points)} turns are still active; compact the session again")
        await self.store.upsert(scope, COLLECTION, [record])

    def _make_record(self, summary: SummaryRecord) -> Record:
        """Embeds the text, so it is work for the executor."""
        [vectors] = embed_tiers([summary.text], self.embedder)
        memory = summary_memory(self.session.key, summary, self.embedder.fingerprint)
        accepted = earliest_acceptance(self.session.memories[turn_id] for turn_id in summary.source_ids)
        return Record(
            id=summary_point(self.session.key, summary.id, self._family),
            payload=replace(memory, accepted=accepted).payload(),
            vectors=vectors,
            lexical=lexical_vector(summary.text, self.analyser, int(summary.lineage.source_ts_max)),
        )

    async def _retire(self, turn_ids: Sequence[str], summary: str) -> None:
        """Marks receipts first: they can be repeated only as long as the turns are found active."""
        key = self.session.key
        into = summary_point(key, summary, self._family)
        await Receipts(self.redis).mark(key.tenant, [(turn_id, {"compacted_into": into}) for turn_id in turn_ids])
        crash_point("compact_after_receipts")
        changes = {"active": False, "compacted_into": into}
        # One write for turns and their pieces: neither is seen without the other.
        said = Where().equals("session", key.session).any_of("kind", ["turn", PIECE]).any_of("event_id", turn_ids)
        await self.store.set_payload(key.scope, COLLECTION, said, changes)

    def _points(self, turn_ids: Iterable[str]) -> list[str]:
        return [self.session.points[turn_id].id for turn_id in turn_ids]

    @property
    def _family(self) -> str:
        return self.embedder.manifest.family
