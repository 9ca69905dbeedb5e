"""Reads one stored memory and writes one explicitly, past the gate."""

import asyncio
import hashlib
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from urllib.parse import unquote

from redis.asyncio import Redis

from lithify.assembly.library.schema import MemoryInput, MemoryView, MemoryWritten
from lithify.embedding import Embedder
from lithify.errors import Conflict
from lithify.events import Clock, TenantScope
from lithify.events.scope import SHARED
from lithify.events.turn import read_memory_id
from lithify.http import NotFound
from lithify.indexing.division import complete_record, embed_leniently, index_texts
from lithify.memory.guidance import name_claims
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.pieces import is_divided
from lithify.memory.temporal.anchors import anchor_density
from lithify.memory.tokens import estimate_tokens
from lithify.store import Record, VectorStore, point_id
from lithify.store.memory_record import COLLECTION, EXPLICIT, PIECE, MemoryRecord
from lithify.store.records import join_parts
from lithify.store.renewal import renew_acceptance
from lithify.streams.generations import bump, durable_subject
from lithify.streams.outage import outages
from lithify.supersession import find_replaced, mark_outdated, replace_memory

# As settled as a promoted turn can be (spec 01 §5): somebody decided that it is worth remembering.
STABILITY = 1.0


@dataclass(frozen=True, slots=True)
class Memories:
    """Reads and writes single memories."""

    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser
    executor: Executor
    redis: Redis
    clock: Clock

    async def read(self, scope: TenantScope, name: str) -> MemoryView:
        """Reads a memory by its id or the readable path of a hit. Raises NotFound."""
        record = await fetch_memory(self.store, scope, name)
        return MemoryView.of(record.id, MemoryRecord.from_payload(record.payload))

    async def write(self, scope: TenantScope, wanted: MemoryInput) -> MemoryWritten:
        """Writes a memory, searchable on return; the same twice is written once. Raises Conflict for another text."""
        memory = replace(self._make_memory(scope, wanted), accepted=await self._read_moment())
        event_id = memory.event_id or ""
        record_id = point_id(scope.tenant, memory.kind, event_id, self.embedder.manifest.family)
        known = await self.store.fetch(scope, COLLECTION, [record_id])
        older = await self._read_replaced(scope, memory)
        if known:
            check_same_memory(memory, MemoryRecord.from_payload(known[0].payload))
            # A forgetting of before leaves it alone from here on; what it was quicker with is written anew.
            await renew_acceptance(self.store, {record_id: memory.accepted or 0})
            known = await self.store.fetch(scope, COLLECTION, [record_id])
        if known:
            # The first try may have ended before this.
            await self._replace(scope, known[0], older)
            return MemoryWritten(id=record_id, event_id=event_id, status="duplicate")
        loop = asyncio.get_running_loop()
        records = await loop.run_in_executor(self.executor, self._embed, record_id, memory)
        await self.store.upsert(scope, COLLECTION, records)
        record = records[-1]
        await mark_outdated(self.store, scope, record)
        await self._replace(scope, record, older)
        await bump(self.redis, scope.tenant, durable_subject(memory.user))
        return MemoryWritten(id=record_id, event_id=event_id, status="stored")

    async def _read_moment(self) -> int:
        """Reads Redis's clock, by which forgetting tells what came later. Raises Unavailable if it is away."""
        with outages():
            seconds, micros = await self.redis.time()
        return int(seconds) * 1000 + int(micros) // 1000

    async def _replace(self, scope: TenantScope, newer: Record, older: Record | None) -> None:
        if older is not None:
            await replace_memory(self.store, scope, newer, older)

    async def _read_replaced(self, scope: TenantScope, memory: MemoryRecord) -> Record | None:
        """Reads the memory that the host wants to be replaced. Raises NotFound unless it is one of the same user."""
        if memory.supersedes is None:
            return None
        older = await find_replaced(self.store, scope, memory.user, memory.supersedes)
        if older is None or older.payload.get("event_id") == memory.event_id:
            raise NotFound(f"supersedes: no other memory {memory.supersedes!r} of this user")
        return older

    def _make_memory(self, scope: TenantScope, wanted: MemoryInput) -> MemoryRecord:
        user = SHARED if wanted.user is None else wanted.user
        return MemoryRecord(
            tenant=scope.tenant,
            user=user,
            kind="memory",
            scope=wanted.scope,
            text=wanted.text,
            ts=self.clock() if wanted.ts is None else wanted.ts,
            event_id=wanted.event_id or derive_event_id(user, wanted.text),
            role=wanted.role,
            source_kind=wanted.source_kind,
            source_ref=wanted.source_ref,
            token_estimate=estimate_tokens(wanted.text),
            anchors=anchor_density(wanted.text),
            claims=name_claims(wanted.text) if wanted.user is not None else (),
            supersedes=wanted.supersedes,
            stability=STABILITY,
            provenance=EXPLICIT,
            embedding=self.embedder.fingerprint,
            divided=is_divided(wanted.text) or None,
        )

    def _embed(self, record_id: str, memory: MemoryRecord) -> list[Record]:
        """Embeds a memory and the pieces of a long one, which come first; CPU-bound.

        A text that cannot be embedded is still found by its words.
        """
        manifest = self.embedder.manifest
        embed = embed_leniently(self.embedder)
        [indexed] = index_texts([(memory.text, memory.ts)], embed, manifest, self.analyser)
        return complete_record(Record(record_id, memory.payload()), indexed, manifest)


async def fetch_memory(store: VectorStore, scope: TenantScope, name: str) -> Record:
    """Reads a record by its id or the readable path of a hit. Raises NotFound, also for a piece: it is no memory."""
    records = await store.fetch(scope, COLLECTION, [parse_memory_id(name)])
    if not records or records[0].payload.get("kind") == PIECE:
        raise NotFound(f"id: no memory {name!r}")
    return records[0]


def parse_memory_id(name: str) -> str:
    """Returns the id inside `<collection>::<id>`, both percent-encoded, or the bare id itself."""
    collection, separator, _ = name.partition("::")
    if separator and unquote(collection) != COLLECTION:
        raise NotFound(f"id: there is no collection {unquote(collection)!r}, only {COLLECTION!r}")
    return read_memory_id(name)


def derive_event_id(user: str, text: str) -> str:
    """Makes an id, the same for the same words of the same user, so that a retry does not remember twice."""
    return f"{EXPLICIT}-{hashlib.sha256(join_parts(user, text).encode()).hexdigest()[:32]}"


def check_same_memory(wanted: MemoryRecord, known: MemoryRecord) -> None:
    if (wanted.user, wanted.text) != (known.user, known.text):
        raise Conflict(f"event_id: {wanted.event_id!r} was used before for another memory")
