"""A record the engine cannot bear costs that record alone; an engine that cannot serve costs none."""

from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx
import pytest
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from redis.asyncio import Redis

from lithify.embedder.worker import EmbeddingWorker
from lithify.embedding import HashEmbedder
from lithify.errors import Misconfigured, Unavailable
from lithify.events import EVERY_TENANT, system_clock
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Record, VectorStore, Where, edge_collection
from lithify.store.edge import EdgeStore
from lithify.store.edge_codec import engine_point
from lithify.store.memory_record import COLLECTION
from lithify.store.server import ServerStore
from lithify.store.writability import check_writable
from lithify.streams import Consumer
from tests.integration.stream_parts import DEAD, QUICK, STREAM, entries, eventually, pending, producer, running, turn

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

POISON = "arsenic"
TURNS = 24


class CountingEmbedder(HashEmbedder):
    """Counts how often the poison was embedded."""

    poisoned = 0

    def embed_documents(self, texts: Sequence[str]) -> Any:
        self.poisoned += any(POISON in text for text in texts)
        return super().embed_documents(texts)


def closed_connection() -> Exception:
    return ResponseHandlingException(httpx.WriteError("the server closed the connection"))


def unknown_answer() -> Exception:
    return UnexpectedResponse(500, "Internal", b"a task panicked", httpx.Headers())


def refusal() -> Exception:
    return UnexpectedResponse(400, "Bad Request", b"payload too large", httpx.Headers())


def engine_bug() -> Exception:
    return Exception("Service internal error: index out of bounds")


def spoil(store: VectorStore, monkeypatch: pytest.MonkeyPatch, fail: Callable[[], Exception]) -> None:
    """Has the engine fail at every write that holds the poison, and at nothing else."""
    if isinstance(store, EdgeStore):

        def make_point(record: Record) -> Any:
            if POISON in str(record.payload.get("text")):
                with edge_collection.engine_errors(store._folder._path):
                    raise fail()
            return engine_point(record)

        monkeypatch.setattr(edge_collection, "engine_point", make_point)
        return
    assert isinstance(store, ServerStore)
    upsert = store._client.upsert

    async def failing(collection: str, points: Sequence[Any], **more: Any) -> Any:
        if any(POISON in str((point.payload or {}).get("text")) for point in points):
            raise fail()
        return await upsert(collection, points, **more)

    monkeypatch.setattr(store._client, "upsert", failing)


def failures(backend: str) -> list[Callable[[], Exception]]:
    return [engine_bug] if backend == "edge" else [closed_connection, unknown_answer, refusal]


@asynccontextmanager
async def embedding(store: VectorStore, redis: Redis, embedder: HashEmbedder) -> AsyncIterator[Consumer]:
    with ThreadPoolExecutor(1) as executor:
        worker = EmbeddingWorker(store, embedder, LexicalAnalyser(), redis, executor, system_clock)
        probe = partial(check_writable, store, COLLECTION)
        consumer = Consumer(redis, [STREAM], "embed", "embed-0", worker.handle, QUICK, system_clock, probe=probe)
        async with running(consumer):
            yield consumer


def has_buried_one(consumer: Consumer) -> bool:
    return consumer.tally.dead == 1


async def stored_events(store: VectorStore) -> set[str]:
    page = await store.scroll(EVERY_TENANT, COLLECTION, Where(), limit=100)
    return {str(record.payload["event_id"]) for record in page.records}


async def test_a_record_the_engine_cannot_bear_is_a_dead_letter_and_the_others_are_searchable(
    memories: VectorStore, redis: Redis, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, fail in enumerate(failures(backend)):
        with monkeypatch.context() as patched:
            spoil(memories, patched, fail)
            expected = {f"{number}-{index}" for index in range(TURNS)}
            words = dict.fromkeys(expected, "hello") | {f"{number}-bad": f"some {POISON}"}
            events = [turn(name, text=text) for name, text in sorted(words.items())]
            await producer(redis).accept([(event, "d") for event in events])
            embedder = CountingEmbedder(32, (8, 16, 32))

            async with embedding(memories, redis, embedder) as consumer:
                await eventually(partial(has_buried_one, consumer))
                assert consumer.ready

            found = await stored_events(memories)
            assert expected <= found
            assert f"{number}-bad" not in found
            # Each halving and each attempt embeds it once more, and then never again.
            assert embedder.poisoned <= TURNS.bit_length() + 1 + QUICK.max_attempts
            assert len(await entries(redis, DEAD)) == number + 1
            assert await pending(redis) == 0


@pytest.mark.parametrize("away", [Unavailable, Misconfigured], ids=["away", "refused key"])
async def test_an_engine_that_cannot_serve_costs_no_message_however_long_it_lasts(
    memories: VectorStore, redis: Redis, monkeypatch: pytest.MonkeyPatch, away: type[Exception]
) -> None:
    tries = 0

    async def refuse(*_args: Any, **_more: Any) -> None:
        nonlocal tries
        tries += 1
        raise away("Qdrant refuses the API key")

    await producer(redis).accept([(turn(f"e{number}"), "d") for number in range(5)])
    with monkeypatch.context() as patched:
        for write in ("upsert", "set_payload"):
            patched.setattr(memories, write, refuse)
        async with embedding(memories, redis, HashEmbedder(32, (8, 16, 32))) as consumer:
            await eventually(lambda: tries > 3 * QUICK.max_attempts)
            assert consumer.outage is not None
            assert "API key" in consumer.outage
            patched.undo()
            await eventually(lambda: consumer.tally.handled == 5)
            assert consumer.ready
    assert (consumer.tally.dead, consumer.tally.failed) == (0, 0)
    assert await stored_events(memories) >= {f"e{number}" for number in range(5)}


async def test_the_least_write_changes_nothing_and_fails_with_the_engine(
    memories: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await memories.count(EVERY_TENANT, COLLECTION, Where())
    await check_writable(memories, COLLECTION)
    assert await memories.count(EVERY_TENANT, COLLECTION, Where()) == before
    with pytest.raises(Unavailable):
        await check_writable(memories, "no-such-collection")
