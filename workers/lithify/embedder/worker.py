"""One batch of deliveries from the stream to the store: embed, upsert, mark the receipts."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from redis.asyncio import Redis

from lithify.embedder.records import becomes_memory, turn_records
from lithify.embedding import Embedder
from lithify.events import EVERY_TENANT, Clock, Event
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import VectorStore
from lithify.store.memory import COLLECTION
from lithify.streams import Delivery, Receipts, crash_point

GROUP = "embed"


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
        if kept:
            await self._store([d.event for d in kept])
        crash_point("after_upsert")
        now = self.clock()
        await self._mark([(d.event, {"embedded_at": now}) for d in kept])
        await self._mark([(event, {"ignored": f"role {event.role} never becomes memory"}) for event in ignored])

    async def _store(self, events: Sequence[Event]) -> None:
        loop = asyncio.get_running_loop()
        records = await loop.run_in_executor(self.executor, turn_records, events, self.embedder, self.analyser)
        crash_point("after_embed")
        # One write for all tenants of the batch, not one sync to disk for each; every record carries its own tenant.
        await self.store.upsert(EVERY_TENANT, COLLECTION, records)

    async def _mark(self, marks: Iterable[tuple[Event, Mapping[str, str | int]]]) -> None:
        by_tenant: dict[str, list[tuple[str, Mapping[str, str | int]]]] = defaultdict(list)
        for event, fields in marks:
            by_tenant[event.tenant].append((event.event_id, fields))
        for tenant, marked in by_tenant.items():
            await Receipts(self.redis).mark(tenant, marked)
