"""What the tests of embedding worker and backfill are made of: a worker on real parts, and a job context for it."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from pydantic import JsonValue
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.embedder.backfill import JOB, BackfillParts, backfill
from lithify.embedder.worker import EmbeddingWorker
from lithify.events import EVERY_TENANT, Event, encode_event
from lithify.jobs import JobContext
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import LEXICAL, TIER_NAMES, Record, SparseVector, VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams import Delivery, Producer, Receipts, keys
from lithify.streams.delivery import StreamEntry, decode
from tests.unit.embedder.faulty_embedder import FaultyEmbedder

NOW_MS = 5_000


class Died(BaseException):
    """Stands for the death of the process: nothing catches it, and nothing after it is done."""


def event(event_id: str, text: str, role: str = "user", **more: Any) -> Event:
    return Event(event_id, "acme", "ada", "s1", role, text, ts=1_000, **more)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """An embedding worker and a backfill on one store, called by the test at the moment it chooses."""

    store: VectorStore
    embedder: FaultyEmbedder
    redis: Redis
    connection: BlockingRedis
    executor: ThreadPoolExecutor

    async def take(self, *events: Event) -> None:
        """As from the stream: accepted, delivered, handled."""
        accepted = await Producer(self.redis, 1, lambda: NOW_MS).accept([(one, "digest") for one in events])
        pairs = zip(events, accepted, strict=True)
        await self.worker.handle([delivery(one, result.stream_id) for one, result in pairs])

    @property
    def worker(self) -> EmbeddingWorker:
        return EmbeddingWorker(self.store, self.embedder, LexicalAnalyser(), self.redis, self.executor, lambda: NOW_MS)

    async def backfill(self, job_id: str = "b1") -> JsonValue:
        parts = BackfillParts(self.store, self.embedder, self.redis, 1, lambda: NOW_MS)
        return await backfill(JobContext(job_id, JOB, 1, parts, self.executor, self.connection))

    async def records(self) -> dict[str, Record]:
        """By event id."""
        page = await self.store.scroll(
            EVERY_TENANT, COLLECTION, Where(), limit=1000, with_vectors=(*TIER_NAMES, LEXICAL)
        )
        return {record.payload["event_id"]: record for record in page.records}

    async def receipt(self, event_id: str) -> dict[str, str]:
        return await Receipts(self.redis).read("acme", event_id) or {}

    async def announced(self) -> list[str]:
        entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", await self.redis.xrange(keys.stored(0)))
        return [delivery_of(stream_id, fields).event.event_id for stream_id, fields in entries]


def delivery(one: Event, stream_id: str) -> Delivery:
    return Delivery(StreamEntry(keys.turns(0), stream_id, {b"event": encode_event(one)}, 1), one)


def delivery_of(stream_id: bytes, fields: dict[bytes, bytes]) -> Delivery:
    return decode(StreamEntry(keys.stored(0), stream_id.decode(), fields, 1))


def plain(record: Record) -> tuple[dict[str, Any], dict[str, list[float]], list[tuple[int, float]]]:
    """For comparing what is stored with what was made: the engines keep 32 bits of a number."""
    vectors = {name: vector.astype(np.float32).tolist() for name, vector in record.vectors.items()}
    words = record.lexical or SparseVector((), ())
    weights = [float(np.float32(value)) for value in words.values]
    return dict(record.payload), vectors, sorted(zip(words.indices, weights, strict=True))
