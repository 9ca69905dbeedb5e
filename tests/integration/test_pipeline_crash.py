"""One test per window in which the embedding worker may die, between the real stream and the real store."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest
from redis.asyncio import Redis

from lithify.embedder.worker import EmbeddingWorker
from lithify.embedding.hash_embedder import HashEmbedder
from lithify.events import EVERY_TENANT, Event, system_clock
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import EdgeStore, ServerStore, VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams import Consumer, Receipts, keys
from lithify.streams.crash import EXIT_CODE
from lithify.streams.groups import EMBED
from tests.chaos.program import Program
from tests.contract.qdrant_server import QdrantServer
from tests.integration.stream_parts import CALM, STREAM, entries, eventually, pending, producer, running, turn
from tests.store_fixtures import missing_server

MAX_ATTEMPTS: Final = 2
EVENTS: Final = (
    turn("e1", tenant="a", text="the tram is yellow"),
    turn("e2", tenant="b", text="the tram is red"),
    turn("e3", tenant="a", text="lunch was late"),
)
UNREADABLE: Final = {"event": "not an envelope"}
# Readable, but no worker knows what to do with such a role.
UNDIGESTIBLE: Final = {
    "event": '{"v":1,"event_id":"bad","tenant":"a","user":"u","session":"s","role":"narrator","text":"x","ts":1}'
}


@dataclass(frozen=True, slots=True)
class Pipeline:
    """An embedding worker as a process on real servers, and a way to look into the store it writes."""

    program: Program
    vectors: Path | None
    qdrant_url: str | None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[VectorStore]:
        store: VectorStore = ServerStore(self.qdrant_url) if self.qdrant_url else EdgeStore(self.vectors or Path())
        try:
            yield store
        finally:
            await store.close()

    async def stored(self) -> Counter[tuple[str, str]]:
        async with self.opened() as store:
            page = await store.scroll(EVERY_TENANT, COLLECTION, Where(), limit=100)
        return Counter((record.payload["tenant"], record.payload["event_id"]) for record in page.records)

    async def die_at(self, crash_point: str) -> None:
        async with asyncio.timeout(60):
            assert await self.program.run_once(LITHIFY_CRASH_AT=crash_point) == EXIT_CODE, self.program.last_words()


@pytest.fixture
def own_qdrant(tmp_path: Path) -> Iterator[QdrantServer]:
    binary = os.environ.get("LITHIFY_TEST_QDRANT_BIN")
    if not binary:
        missing_server("needs a server of its own: set LITHIFY_TEST_QDRANT_BIN (see deploy/tools/fetch-qdrant)")
    server = QdrantServer(Path(binary or ""), tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["edge", pytest.param("server", marks=pytest.mark.server)])
def pipeline(request: pytest.FixtureRequest, tmp_path: Path, redis_url: str) -> Pipeline:
    """The worker as a process of its own, with Qdrant Edge inside or against a Qdrant server."""
    settings = {
        "LITHIFY_REDIS_URL": redis_url,
        "LITHIFY_PARTITIONS": "1",
        "LITHIFY_EMBEDDING_PROFILE": "hash",
        "LITHIFY_EMBED_SLOTS": "1",
        "LITHIFY_WORKER_NAME": "w",
        "LITHIFY_LEASE_MS": "1000",
        "LITHIFY_MAX_ATTEMPTS": str(MAX_ATTEMPTS),
        "LITHIFY_DATA_DIR": str(tmp_path),
    }
    log = tmp_path / "worker.log"
    if request.param == "edge":
        return Pipeline(Program("w", "embed-on-edge", log, settings), tmp_path / "vectors", None)
    url = request.getfixturevalue("own_qdrant").url
    return Pipeline(Program("w", "embed", log, settings | {"LITHIFY_QDRANT_URL": url}), None, url)


@asynccontextmanager
async def next_worker(pipeline: Pipeline, redis: Redis) -> AsyncIterator[Consumer]:
    """The worker that comes after the dead one, under the same name."""
    with ThreadPoolExecutor(1) as executor:
        async with pipeline.opened() as store:
            worker = EmbeddingWorker(store, HashEmbedder(), LexicalAnalyser(), redis, executor, system_clock)
            limits = replace(CALM, max_attempts=MAX_ATTEMPTS)
            consumer = Consumer(redis, [STREAM], EMBED, "w-0", worker.handle, limits, system_clock)
            async with running(consumer):
                yield consumer


async def embedded(redis: Redis) -> list[bool]:
    receipts = [await Receipts(redis).read(event.tenant, event.event_id) for event in EVENTS]
    return ["embedded_at" in (receipt or {}) for receipt in receipts]


def once(*events: Event) -> Counter[tuple[str, str]]:
    return Counter((event.tenant, event.event_id) for event in events)


@pytest.mark.parametrize(
    ("window", "stored_before", "marked_before"),
    [
        ("after_read", False, False),
        ("after_embed", False, False),
        ("after_upsert", True, False),
        ("after_publish", True, False),
        ("before_ack", True, True),
    ],
    ids=["after_read", "after_embed", "after_upsert", "after_publish", "before_ack"],
)
async def test_events_of_a_worker_that_dies_are_stored_exactly_once(
    pipeline: Pipeline, redis: Redis, window: str, stored_before: bool, marked_before: bool
) -> None:
    await producer(redis).accept([(event, "digest") for event in EVENTS])
    await pipeline.die_at(window)
    assert await pipeline.stored() == (once(*EVENTS) if stored_before else Counter())
    assert await embedded(redis) == [marked_before] * len(EVENTS)
    assert await pending(redis) == len(EVENTS)

    async with next_worker(pipeline, redis) as worker:
        await eventually(lambda: worker.tally.handled == len(EVENTS))
    assert await pipeline.stored() == once(*EVENTS)
    assert await embedded(redis) == [True] * len(EVENTS)
    assert (await pending(redis), await redis.xlen(keys.dead(0))) == (0, 0)


@pytest.mark.parametrize("poison", [UNREADABLE, UNDIGESTIBLE], ids=["unreadable", "undigestible"])
async def test_a_worker_dying_in_the_dead_letter_move_buries_the_poison_once_and_nothing_else(
    pipeline: Pipeline, redis: Redis, poison: dict[str, str]
) -> None:
    await producer(redis).accept([(EVENTS[0], "digest")])
    await redis.xadd(STREAM, dict[Any, Any](poison))
    await pipeline.die_at("dead_letter")
    assert await redis.xlen(keys.dead(0)) == 0
    assert await pending(redis) > 0

    async with next_worker(pipeline, redis) as worker:
        await eventually(lambda: worker.tally.dead == 1)
    [(_, letter)] = await entries(redis, keys.dead(0))
    assert letter["event"] == poison["event"]
    assert await pipeline.stored() == once(EVENTS[0])
    assert await pending(redis) == 0
