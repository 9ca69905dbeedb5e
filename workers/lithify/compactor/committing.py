"""Carries out the commit steps of one session against the store and Redis; each may be repeated."""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import TypeVar

from redis.asyncio import Redis

from lithify.compactor.records import shard_record, summary_memory, summary_point
from lithify.compactor.session_state import SessionStates
from lithify.compactor.session_view import Session
from lithify.embedding import Embedder
from lithify.indexing import embed_tiers, lexical_vector
from lithify.memory.compaction.commit_steps import (
    AdvanceState,
    CheckGeneration,
    CommitStep,
    KeepShards,
    RetireSources,
    StaleGeneration,
    StoreEdges,
    StoreSummary,
)
from lithify.memory.compaction.guidance import Shard
from lithify.memory.compaction.summary_record import SummaryRecord
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import LEXICAL, TIER_NAMES, Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams import Receipts, crash_point, generations

T = TypeVar("T")


class Abandoned(BaseException):
    """The job was cancelled while its thread ran. No Exception: it must end the run, not cost one cluster."""


@dataclass(frozen=True, slots=True)
class Committer:
    """Called in the thread that drafts; what waits for a server is done in the loop the job lives in."""

    session: Session
    store: VectorStore
    redis: Redis
    states: SessionStates
    embedder: Embedder
    analyser: LexicalAnalyser
    loop: asyncio.AbstractEventLoop
    abandoned: Event = field(default_factory=Event)
    retired: set[str] = field(default_factory=set)

    def apply(self, step: CommitStep) -> None:
        """Durable on return. Raises StaleGeneration if the session has moved on, Unavailable if a server is away."""
        match step:
            case CheckGeneration(generation):
                self._wait(self.states.check(self.session.key, generation))
            case KeepShards(shards):
                self._wait(self._keep(shards))
                crash_point("compact_after_shards")
            case StoreSummary(summary):
                self._wait(self._store(summary, self._record(summary)))
                crash_point("compact_after_summary")
            case AdvanceState():
                self._wait(self.states.advance(self.session.key, step))
                crash_point("compact_after_state")
            case StoreEdges():
                """A summary's list of sources is its edges; it was written with the summary."""
            case RetireSources(turn_ids, summary):
                self._wait(self._retire(turn_ids, summary))
                self.retired.update(turn_ids)
                crash_point("compact_after_retire")

    def _wait(self, work: Coroutine[None, None, T]) -> T:
        if self.abandoned.is_set():
            work.close()
            raise Abandoned
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def _record(self, summary: SummaryRecord) -> Record:
        [vectors] = embed_tiers([summary.text], self.embedder)
        return Record(
            id=summary_point(self.session.key, summary.id, self._family),
            payload=summary_memory(self.session.key, summary, self.embedder.fingerprint).payload(),
            vectors=vectors,
            lexical=lexical_vector(summary.text, self.analyser, int(summary.lineage.source_ts_max)),
        )

    async def _keep(self, shards: Sequence[Shard]) -> None:
        key, points = self.session.key, self._points(shard.source_turn_id for shard in shards)
        found = await self.store.fetch(key.scope, COLLECTION, points, with_vectors=(*TIER_NAMES, LEXICAL))
        by_turn = {record.payload["event_id"]: record for record in found}
        # A turn that was forgotten since it was read leaves no shard.
        kept = [(by_turn[shard.source_turn_id], shard) for shard in shards if shard.source_turn_id in by_turn]
        await self.store.upsert(
            key.scope, COLLECTION, [shard_record(turn, shard, self._family) for turn, shard in kept]
        )
        await generations.bump(self.redis, key.tenant, generations.durable_subject(key.user))

    async def _store(self, summary: SummaryRecord, record: Record) -> None:
        key, points = self.session.key, self._points(summary.source_ids)
        active = await self.store.count(key.scope, COLLECTION, Where().ids(points).equals("active", True))
        # The generation is compared afterwards; this spares the store a stray summary of what a rival has compacted,
        # or of what was forgotten, while this process slept.
        if active != len(points):
            raise StaleGeneration(f"only {active} of {len(points)} turns are still active; compact the session again")
        await self.store.upsert(key.scope, COLLECTION, [record])

    async def _retire(self, turn_ids: Sequence[str], summary: str) -> None:
        """Receipts first: they can be repeated only as long as the turns are found active."""
        key, into = self.session.key, summary_point(self.session.key, summary, self._family)
        await Receipts(self.redis).mark(key.tenant, [(turn_id, {"compacted_into": into}) for turn_id in turn_ids])
        crash_point("compact_after_receipts")
        retired = {"active": False, "compacted_into": into}
        await self.store.set_payload(key.scope, COLLECTION, Where().ids(self._points(turn_ids)), retired)

    def _points(self, turn_ids: Iterable[str]) -> list[str]:
        return [self.session.points[turn_id].id for turn_id in turn_ids]

    @property
    def _family(self) -> str:
        return self.embedder.manifest.family
