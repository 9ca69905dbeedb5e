"""Services that still have the former model after a switch: they stop writing, lose nothing, and say what to do."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.embedder.worker import EmbeddingWorker
from lithify.errors import Invalid, Unavailable
from lithify.events import EVERY_TENANT, system_clock
from lithify.node.parts import collection_spec
from lithify.store import Query, ServerStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams import Consumer, keys
from lithify.streams.groups import EMBED
from tests.integration.reembed_parts import ANALYSER, Move, NamedEmbedder, moving, turn_points, turns
from tests.integration.stream_parts import CALM, STREAM, eventually, pending, producer, running

pytestmark = pytest.mark.server

Act = Callable[[ServerStore, Move], Coroutine[Any, Any, object]]


@pytest_asyncio.fixture
async def move(server_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Move]:
    """Processes look at once whether they still have the right model; they do so every second otherwise."""
    monkeypatch.setattr("lithify.store.server.SPEC_AGE_S", 0.0)
    store = ServerStore(server_url)
    async with moving(store, NamedEmbedder("new", 24, (4, 12, 24))) as move:
        yield move
    await store.close()


@pytest_asyncio.fixture
async def service(move: Move, server_url: str) -> AsyncIterator[ServerStore]:
    """The store as a process with the former model has it open."""
    store = ServerStore(server_url)
    await store.ensure(collection_spec(move.old))
    yield store
    await store.close()


async def upsert(store: ServerStore, move: Move) -> None:
    await store.upsert(EVERY_TENANT, COLLECTION, turn_points(turns(1, 700), move.old))


async def query(store: ServerStore, move: Move) -> None:
    await store.query_batch(EVERY_TENANT, COLLECTION, [Query(Where(), "l3", np.ones(32), 1)])


async def set_vectors(store: ServerStore, move: Move) -> None:
    [record] = turn_points(move.events[:1], move.old)
    await store.set_vectors(EVERY_TENANT, COLLECTION, {record.id: record.vectors})


async def set_payload(store: ServerStore, move: Move) -> None:
    await store.set_payload(EVERY_TENANT, COLLECTION, Where().equals("event_id", "e1"), {"active": False})


async def delete(store: ServerStore, move: Move) -> None:
    await store.delete(EVERY_TENANT, COLLECTION, Where().equals("event_id", "e1"))


@pytest.mark.parametrize("act", [upsert, query, set_vectors, set_payload, delete])
async def test_a_service_with_the_former_model_is_told_to_restart(move: Move, service: ServerStore, act: Act) -> None:
    await act(service, move)
    await move.reembed().run()
    moved = await move.contents()
    with pytest.raises(Unavailable, match=r"re-embedded.*restart this process with that model"):
        await act(service, move)
    assert await move.contents() == moved


@pytest.mark.parametrize("act", [upsert, query])
async def test_vectors_of_another_length_cost_no_event_before_the_service_has_looked(
    move: Move, service: ServerStore, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lithify.store.server.SPEC_AGE_S", 3600.0)
    await act(service, move)
    await move.reembed().run()
    with pytest.raises(Unavailable, match="restart this process"):
        await act(service, move)


async def test_what_really_is_wrong_stays_wrong(move: Move) -> None:
    with pytest.raises(Invalid):
        await move.store.query_batch(EVERY_TENANT, COLLECTION, [Query(Where(), "l3", np.ones(7), 1)])


async def test_events_wait_for_a_worker_with_the_new_model(move: Move, service: ServerStore, redis: Redis) -> None:
    await move.reembed().run()
    late = turns(3, 800)
    await producer(redis).accept([(event, "digest") for event in late])
    with ThreadPoolExecutor(1) as executor:
        stuck = worker(service, move.old, redis, executor)
        async with running(stuck):
            await eventually(lambda: stuck.outage is not None)
        assert "restart this process" in (stuck.outage or "")
        assert await pending(redis) == len(late)
        restarted = worker(move.store, move.new, redis, executor)
        async with running(restarted):
            await eventually(lambda: restarted.tally.handled == len(late))
    ids = {record.id for record in turn_points(late, move.new)}
    assert ids <= set(await move.contents())
    assert await redis.xlen(keys.dead(0)) == 0


def worker(store: Any, embedder: NamedEmbedder, redis: Redis, executor: ThreadPoolExecutor) -> Consumer:
    handler = EmbeddingWorker(store, embedder, ANALYSER, redis, executor, system_clock)
    return Consumer(redis, [STREAM], EMBED, "w-0", handler.handle, CALM, system_clock)


async def test_everything_written_while_it_moves_is_there_afterwards(move: Move, service: ServerStore) -> None:
    """A service writes with the former model all the time, until it is told to restart."""
    written = []

    async def write_on() -> None:
        for event in turns(10_000, 1_000):
            await service.upsert(EVERY_TENANT, COLLECTION, turn_points([event], move.old))
            written.append(event)

    writing = asyncio.create_task(write_on())
    await eventually(lambda: len(written) > 5)
    await move.reembed().run()
    with pytest.raises(Unavailable):
        await writing
    contents = await move.contents()
    missing = [record.id for record in turn_points(written, move.new) if record.id not in contents]
    assert missing == []
    assert {payload["embedding"] for payload, *_ in contents.values() if "embedding" in payload} == {
        move.new.fingerprint
    }
