"""One batch of deliveries from the stream to the store: embed, upsert, mark the receipts."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TypeVar

from redis.asyncio import Redis

from lithify.embedder.records import becomes_memory, turn_records
from lithify.embedding import Embedder
from lithify.events import Clock, Event, TenantScope
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import VectorStore
from lithify.store.memory import COLLECTION
from lithify.streams import Delivery, Receipts, crash_point

GROUP = "embed"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EmbeddingWorker:
    """Every step may be repeated: ids are deterministic, marks overwrite themselves."""

    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser
    redis: Redis
    executor: Executor
    clock: Clock

    async def handle(self, deliveries: Sequence[Delivery]) -> None:
        """The events are searchable on return; only then may they be acknowledged."""
        kept = [d for d in deliveries if becomes_memory(d.event)]
        ignored = [d.event for d in deliveries if not becomes_memory(d.event)]
        await self._store([d.event for d in kept])
        crash_point("after_upsert")
        now = self.clock()
        await self._mark([(d.event, {"embedded_at": now}) for d in kept])
        await self._mark([(event, {"ignored": f"role {event.role} never becomes memory"}) for event in ignored])

    async def _store(self, events: Sequence[Event]) -> None:
        loop = asyncio.get_running_loop()
        records = await loop.run_in_executor(self.executor, turn_records, events, self.embedder, self.analyser)
        crash_point("after_embed")
        for tenant, group in by_tenant(zip(events, records, strict=True)).items():
            await self.store.upsert(TenantScope(tenant), COLLECTION, [record for _, record in group])

    async def _mark(self, marks: Iterable[tuple[Event, dict[str, str | int]]]) -> None:
        for tenant, group in by_tenant(marks).items():
            await Receipts(self.redis).mark(tenant, [(event.event_id, fields) for event, fields in group])


def by_tenant(pairs: Iterable[tuple[Event, T]]) -> dict[str, list[tuple[Event, T]]]:
    groups: dict[str, list[tuple[Event, T]]] = defaultdict(list)
    for event, value in pairs:
        groups[event.tenant].append((event, value))
    return groups
