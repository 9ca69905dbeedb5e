"""What the rebuild tests are made of: a system without streams on a real store and a real archive."""

from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lithify.archive import ArchiveLine, SegmentWriter, encode_line
from lithify.archive.carrying import pages
from lithify.archiver.worker import archive_consumer, open_archive_worker, slot_name
from lithify.embedder.records import becomes_memory, make_records
from lithify.embedding import Embedder, HashEmbedder
from lithify.events import EVERY_TENANT, Event, encode_event, system_clock
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.node.parts import Model, collection_spec, open_parts
from lithify.node.rebuild import PREFIX, Rebuild
from lithify.node.workers import open_embedding
from lithify.settings import Settings
from lithify.store import EdgeStore, VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams import Consumer, ConsumerSettings, Producer, open_consumer
from tests.integration.stream_parts import running

# Small, so that there are several batches.
BATCH = 16

Contents = dict[str, tuple[dict[str, Any], dict[str, list[float]], Any]]


def turns(count: int, start: int = 0) -> list[Event]:
    tenants, roles = ("acme", "globex"), ("user", "assistant", "tool")
    return [
        Event(
            event_id=f"e{n}",
            tenant=tenants[n % 2],
            user=f"u{n % 5}",
            session=f"s{n % 9}",
            role=roles[n % 3],
            text=f"fact number {n} was told in May",
            ts=1_700_000_000_000 + n,
            seq=n,
            agent="host" if n % 4 else None,
            meta={"n": n, "deep": {"list": [n, None, 0.5], "no": None}},
        )
        for n in range(start, start + count)
    ]


def memorable(events: Sequence[Event]) -> set[str]:
    return {event.event_id for event in events if event.role != "tool"}


def event_ids(found: Contents) -> set[str]:
    return {payload["event_id"] for payload, _, _ in found.values() if payload["kind"] == "turn"}


async def contents(store: VectorStore, collection: str = COLLECTION) -> Contents:
    """Everything a collection holds: payloads, dense vectors and lexical vectors."""
    return {
        record.id: (
            dict(record.payload),
            {name: vector.tolist() for name, vector in record.vectors.items()},
            record.lexical,
        )
        async for page in pages(store, collection, vectors=True)
        for record in page
    }


def quiet(stage: str, done: int, total: int) -> None:
    """Nobody watches."""


async def caught_up() -> None:
    """There are no streams whose events the archive could lack."""


@dataclass(frozen=True, slots=True)
class System:
    """What embedding and archive workers do, called by the test at the moment it chooses."""

    store: VectorStore
    archive: Path
    model: Model

    def archived(self, events: Sequence[Event]) -> None:
        writer = SegmentWriter.open(self.archive, "w", system_clock)
        middle = len(events) // 2
        writer.append([line_of(event) for event in events[:middle]])
        writer.append([line_of(event) for event in events[middle:]])
        writer.close()

    async def embedded(self, events: Sequence[Event]) -> None:
        # Workers learn from the stream when an event was accepted, a rebuild from its line.
        kept = [replace(event, accepted=event.ts) for event in events if becomes_memory(event)]
        records = make_records(kept, self.model.embedder, self.model.analyser)
        await self.store.upsert(EVERY_TENANT, COLLECTION, records)

    async def processed(self, events: Sequence[Event]) -> None:
        self.archived(events)
        await self.embedded(events)

    def rebuild(self, *, carry: bool = True, embedder: Embedder | None = None) -> Rebuild:
        model = replace(self.model, embedder=embedder or self.model.embedder)
        return Rebuild(self.store, model, self.archive, BATCH, carry, caught_up, quiet, system_clock)

    async def contents(self, collection: str = COLLECTION) -> Contents:
        return await contents(self.store, collection)

    async def collections(self) -> list[str]:
        return [spec.name for spec in await self.store.collections()]


def line_of(event: Event) -> ArchiveLine:
    return encode_line("lithify:turns:{0}", f"{event.ts}-0", event.seq, encode_event(event))


def hash_model(executor: ThreadPoolExecutor) -> Model:
    return Model(HashEmbedder(), LexicalAnalyser(), executor)


async def emptied(store: VectorStore, model: Model) -> None:
    """Ready for the next test; making a collection is what takes long."""
    await store.ensure(collection_spec(model.embedder))
    await store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    for spec in await store.collections():
        if spec.name.startswith(PREFIX):
            await store.drop(spec.name)


@asynccontextmanager
async def closed_store(data_dir: Path) -> AsyncIterator[EdgeStore]:
    """The store of a node that is not running."""
    store = EdgeStore(data_dir / "vectors")
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def workers(settings: Settings, archive: Path | None) -> AsyncIterator[tuple[Producer, list[Consumer]]]:
    """Embedding and archive workers at work on the parts the settings name, and a way to give them turns."""
    async with AsyncExitStack() as stack:
        parts = await open_parts(settings, stack)
        redis = parts.redis
        consumers = (await open_embedding(parts, stack)).consumers
        if archive is not None:
            name, limits = slot_name(settings.worker_name), ConsumerSettings(block_ms=10)
            worker = await stack.enter_async_context(open_archive_worker(archive, name, system_clock))
            client = await stack.enter_async_context(open_consumer(redis.url, limits.block_ms))
            consumers.append(archive_consumer(worker, client, settings.partitions, name, limits, system_clock))
        async with running(*consumers):
            yield Producer(redis.client, settings.partitions, system_clock), consumers
