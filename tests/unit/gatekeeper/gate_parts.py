"""What the gate's tests are made of: stored turns with chosen vectors, and a worker on a real store and Redis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from redis.asyncio import Redis

from lithify.embedder.records import turn_memory
from lithify.events import EVERY_TENANT, Event, TenantScope
from lithify.events.event import encode_event
from lithify.gatekeeper.turn_gate import TurnGate
from lithify.gatekeeper.worker import GateWorker
from lithify.memory.gating.gate import GateConfig
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Record, SparseVector, VectorStore, Where, point_id
from lithify.store.memory_record import COLLECTION
from lithify.streams import Delivery, Receipts, keys
from lithify.streams.delivery import StreamEntry
from tests.integration.stream_parts import producer

FAMILY: Final = "test"
ACME: Final = TenantScope("acme")
NOW: Final = 99_000
MERGE_AT: Final = 0.95
ANALYSER: Final = LexicalAnalyser()

TEA: Final = "I prefer tea over coffee on long train rides"
TRIP: Final = "We talked about the trip"
LENGTHS: Final = {"l1": 8, "l2": 16, "l3": 32}


def axis(number: int) -> tuple[float, ...]:
    """Vectors of different axes have nothing in common."""
    return tuple(float(i == number) for i in range(LENGTHS["l3"]))


def at(cosine: float, number: int = 1) -> tuple[float, ...]:
    """A vector this close to `axis(0)`; with other numbers the rest points elsewhere."""
    rest = float(np.sqrt(1 - cosine**2))
    return tuple(cosine if i == 0 else rest * (i == number) for i in range(LENGTHS["l3"]))


def said(event_id: str, text: str = TEA, ts: int = 1_000, role: str = "user", **more: str) -> Event:
    fields = {"tenant": "acme", "user": "ada", "session": "s", **more}
    return Event(event_id=event_id, role=role, text=text, ts=ts, seq=ts, **fields)  # type: ignore[arg-type] # texts


def turn_record(event: Event, vector: Sequence[float] | None = None) -> Record:
    full = np.array(axis(0) if vector is None else vector, np.float32)
    return Record(
        id=point_id(event.tenant, "turn", event.event_id, FAMILY),
        payload=turn_memory(event, "model").payload(),
        vectors={name: full[:length] for name, length in LENGTHS.items()},
        lexical=SparseVector((3, 7), (1.0, 0.5)),
    )


def memory_record(event: Event, vector: Sequence[float] | None = None, **more: Any) -> Record:
    """Durable memory that stems from a turn nobody gates in the test."""
    record = turn_record(event, vector)
    payload = {**record.payload, "kind": "memory", "scope": "user", **more}
    return replace(record, id=memory_id(event), payload=payload)


def memory_id(event: Event) -> str:
    return point_id(event.tenant, "memory", event.event_id, FAMILY)


def delivered(event: Event) -> Delivery:
    return Delivery(StreamEntry(keys.stored(0), "1-0", {b"event": encode_event(event)}, 1), event)


def rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


@dataclass(frozen=True, slots=True)
class Gate:
    """The worker with its surroundings."""

    store: VectorStore
    redis: Redis
    config: GateConfig = field(default_factory=GateConfig)

    def worker(self) -> GateWorker:
        return GateWorker(self.store, self.redis, FAMILY, TurnGate(self.config, MERGE_AT, ANALYSER), lambda: NOW)

    async def store_turns(self, *turns: Event | tuple[Event, Sequence[float]]) -> None:
        """Accepted and embedded; a turn without a vector of its own lies on axis 0."""
        pairs = [(turn, axis(0)) if isinstance(turn, Event) else turn for turn in turns]
        await producer(self.redis).accept([(event, "digest") for event, _ in pairs])
        await self.put(*(turn_record(event, vector) for event, vector in pairs))

    async def put(self, *records: Record) -> None:
        await self.store.upsert(EVERY_TENANT, COLLECTION, records)

    async def gate(self, *events: Event) -> GateWorker:
        worker = self.worker()
        await worker.handle([delivered(event) for event in events])
        return worker

    async def gated(self, event: Event, vector: Sequence[float] | None = None) -> Mapping[str, Any]:
        """Store the turn, gate it, and return its payload."""
        await self.store_turns((event, axis(0) if vector is None else vector))
        await self.gate(event)
        return await self.turn(event)

    async def turn(self, event: Event) -> Mapping[str, Any]:
        [record] = await self.store.fetch(EVERY_TENANT, COLLECTION, [turn_record(event).id])
        return record.payload

    async def memories(self) -> dict[str, Mapping[str, Any]]:
        """All durable memories by the event they stem from."""
        page = await self.store.scroll(EVERY_TENANT, COLLECTION, Where().equals("kind", "memory"), limit=100)
        return {record.payload["event_id"]: record.payload for record in page.records}

    async def everything(self) -> dict[str, Mapping[str, Any]]:
        """Figures rounded: an engine's scores have single precision, and a server prints them its own way."""
        page = await self.store.scroll(EVERY_TENANT, COLLECTION, Where(), limit=100)
        return {record.id: {name: rounded(value) for name, value in record.payload.items()} for record in page.records}

    async def receipt(self, event: Event) -> dict[str, str]:
        return await Receipts(self.redis).read(event.tenant, event.event_id) or {}
