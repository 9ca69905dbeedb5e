"""Lost replies, cut connections and a killed server: errors for callers, never a lost or doubled event."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import TimeoutError as RedisTimeout

from lithify.errors import Invalid, Unavailable
from lithify.events import system_clock
from lithify.node.redis_server import EmbeddedRedis
from lithify.streams import Consumer, Delivery, connection, keys, open_consumer, open_producer, script
from tests.fault.proxy import Proxy, proxy_to
from tests.integration.stream_parts import (
    CALM,
    GROUP,
    QUICK,
    STREAM,
    Ledger,
    accept,
    consumer,
    eventually,
    pending,
    producer,
    running,
    turn,
)
from tests.redis_fixtures import chosen_binary

PATIENCE_S = 0.1


@pytest_asyncio.fixture
async def proxy(redis_url: str) -> AsyncIterator[Proxy]:
    async with proxy_to(urlsplit(redis_url).path) as opened:
        yield opened


@pytest_asyncio.fixture
async def shaky(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Redis]:
    """A consumer's client whose replies may get lost; impatient, so that the tests are quick."""
    monkeypatch.setattr(connection, "REPLY_TIMEOUT_S", PATIENCE_S)
    async with open_consumer(f"redis://127.0.0.1:{proxy.port}", QUICK.block_ms) as client:
        yield client


def first(command: bytes, times: int = 1) -> Callable[[bytes], bool]:
    left = times

    def swallows(request: bytes) -> bool:
        nonlocal left
        hit = command in request and left > 0
        left -= hit
        return hit

    return swallows


async def test_a_plain_xadd_is_doubled_by_a_lost_reply(redis: Redis, proxy: Proxy) -> None:
    """Why accepting is a script: this is what the client library does by itself."""
    proxy.swallows = first(b"XADD", times=2)
    url = f"redis://127.0.0.1:{proxy.port}"
    async with Redis.from_url(url, socket_timeout=PATIENCE_S, retry=Retry(NoBackoff(), 3)) as client:
        await client.xadd(STREAM, {"event": "x"})
    assert await redis.xlen(STREAM) == 3


async def test_an_accepted_event_is_not_doubled_by_lost_replies(
    redis: Redis, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "REPLY_TIMEOUT_S", PATIENCE_S)
    await accept(redis, "warm-up")
    proxy.swallows = first(b"EVALSHA", times=2)
    async with open_producer(f"redis://127.0.0.1:{proxy.port}") as client:
        [result] = await producer(client).accept([(turn("e1"), "d")])
    assert proxy.swallowed == 2
    assert (result.status, result.seq) == ("duplicate", 2)
    assert await redis.xlen(STREAM) == 2


async def test_a_read_whose_reply_was_lost_loses_no_message(redis: Redis, shaky: Redis, proxy: Proxy) -> None:
    await accept(redis, "e1", "e2")
    proxy.swallows = first(b"XREADGROUP")
    ledger = Ledger()
    async with running(consumer(shaky, ledger)):
        await eventually(lambda: sorted(ledger.done) == ["e1", "e2"])
    assert proxy.swallowed == 1
    assert ledger.attempts == [2, 2]
    assert await pending(redis) == 0


async def test_an_acknowledgement_whose_reply_was_lost_is_repeated_and_the_work_is_not(
    redis: Redis, shaky: Redis, proxy: Proxy
) -> None:
    await accept(redis, "e1")
    proxy.swallows = first(b"XACK", times=2)
    ledger = Ledger()
    worker = consumer(shaky, ledger, CALM)
    async with running(worker):
        await eventually(lambda: worker.tally.handled == 1)
    assert proxy.swallowed == 2
    assert ledger.calls == [["e1"]]
    assert await pending(redis) == 0


async def test_a_burial_whose_reply_was_lost_makes_one_dead_letter(redis: Redis, shaky: Redis, proxy: Proxy) -> None:
    def judge(_delivery: Delivery) -> None:
        raise Invalid("bad")

    await accept(redis, "bad")
    await redis.script_load(script.load("bury").text)
    proxy.swallows = first(b"dead_reason", times=2)
    worker = consumer(shaky, Ledger(judge), CALM)
    async with running(worker):
        await eventually(lambda: worker.tally.dead == 1)
    assert proxy.swallowed == 2
    assert await redis.xlen(keys.dead(0)) == 1


async def test_a_cut_connection_is_opened_again(redis: Redis, shaky: Redis, proxy: Proxy) -> None:
    await accept(redis, "e1")
    ledger = Ledger()
    async with running(consumer(shaky, ledger)):
        await eventually(lambda: ledger.done == ["e1"])
        proxy.cut()
        await accept(redis, "e2")
        await eventually(lambda: ledger.done == ["e1", "e2"])


async def test_a_read_may_block_longer_than_a_reply_may_take(
    redis_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    await accept(redis, "e1")
    await redis.xgroup_create(STREAM, GROUP, "$")
    naive = Redis.from_url(redis_url, socket_timeout=PATIENCE_S, retry=Retry(NoBackoff(), 0))
    with pytest.raises(RedisTimeout):
        await naive.xreadgroup(GROUP, "embed-0", {STREAM: ">"}, block=300)
    await naive.aclose()

    monkeypatch.setattr(connection, "REPLY_TIMEOUT_S", PATIENCE_S)
    async with open_consumer(redis_url, block_ms=300) as client:
        assert await client.xreadgroup(GROUP, "embed-0", {STREAM: ">"}, block=300) == []


async def test_kill_minus_nine_of_the_server_under_load_costs_no_accepted_event(tmp_path: Path) -> None:
    server = EmbeddedRedis(tmp_path, binary=chosen_binary())
    await server.start()
    accepted: list[str] = []
    refused = 0

    async def load(client: Redis) -> None:
        nonlocal refused
        for number in range(400):
            try:
                await producer(client).accept([(turn(f"e{number}"), "d")])
            except Unavailable:
                refused += 1
            else:
                accepted.append(f"e{number}")

    ledger = Ledger()
    async with open_consumer(server.url, 0) as writing, open_consumer(server.url, QUICK.block_ms) as reading:
        worker = Consumer(reading, [STREAM], GROUP, "embed-0", ledger, QUICK, system_clock)
        async with running(worker):
            loading = asyncio.create_task(load(writing))
            await eventually(lambda: len(ledger.done) > 50)
            server.process.kill()
            await server.process.wait()
            await eventually(lambda: refused > 0)
            await server.start()
            await loading
            await eventually(lambda: set(accepted) <= set(ledger.done))
        assert await pending(writing) == 0
    await server.stop()
    assert len(accepted) > 50
    assert worker.tally.dead == 0
