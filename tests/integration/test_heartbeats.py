"""Heartbeats: every worker can be seen from anywhere, and one that is gone cannot."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace

import pytest
from redis.asyncio import Redis

from lithify.streams import Delivery, Heartbeat, connection, keep_beating, keys, open_consumer, read_workers
from lithify.streams.consumer import ConsumerTally
from lithify.streams.heartbeat import LISTED_MS, TTL_S, beat, heartbeat_of
from tests.integration.stream_parts import CALM, GROUP, PATIENCE_S, Ledger, accept, consumer, eventually, running

BEAT = Heartbeat("embed", "embed-0", "host", 7, 1, 2, 3, True, None, 0, ConsumerTally(handled=5))


async def heard_after(redis: Redis, beat_at: int) -> Heartbeat:
    """The only worker, as soon as it was heard of later than this."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if found := [heartbeat for heartbeat in await read_workers(redis) if heartbeat.beat_at > beat_at]:
                return found[0]


async def test_a_running_worker_tells_who_it_is_and_what_it_did(redis: Redis) -> None:
    await accept(redis, "e1", "e2")
    ledger = Ledger()
    worker = consumer(redis, ledger, CALM)
    async with running(worker):
        await eventually(lambda: worker.tally.handled == 2)
        await beat(redis, [heartbeat_of(worker, started_at=11, now_ms=22)])
    [found] = await read_workers(redis)
    assert (found.kind, found.name, found.pid) == (GROUP, "embed-0", os.getpid())
    assert (found.started_at, found.beat_at, found.ready, found.outage) == (11, 22, True, None)
    assert (found.tally, found.in_flight) == (ConsumerTally(handled=2), 0)


async def test_messages_in_flight_are_told(redis: Redis) -> None:
    started, finish = asyncio.Event(), asyncio.Event()

    async def slow(_deliveries: Sequence[Delivery]) -> None:
        started.set()
        await finish.wait()

    await accept(redis, "e1", "e2", "e3")
    worker = consumer(redis, slow, CALM)
    async with running(worker):
        await started.wait()
        assert heartbeat_of(worker, 0, 0).in_flight == 3
        finish.set()
    assert heartbeat_of(worker, 0, 0).in_flight == 0
    assert not heartbeat_of(worker, 0, 0).ready


async def test_all_workers_are_listed_by_kind_and_name(redis: Redis) -> None:
    beats = [replace(BEAT, kind=kind, name=name) for kind, name in (("gate", "b"), ("embed", "b"), ("embed", "a:c"))]
    for heartbeat in beats:
        await beat(redis, [heartbeat])
    assert await read_workers(redis) == [beats[2], beats[1], beats[0]]


async def test_beating_goes_on_by_itself(redis: Redis) -> None:
    ticks = iter(range(1_000_000))
    beating = asyncio.create_task(
        keep_beating(redis, [consumer(redis, Ledger(), CALM)], lambda: next(ticks), every_s=0.001)
    )
    first = await heard_after(redis, 0)
    second = await heard_after(redis, first.beat_at)
    beating.cancel()
    assert first.started_at == second.started_at == 0


async def test_a_worker_that_is_gone_is_not_listed(redis: Redis) -> None:
    await beat(redis, [BEAT, replace(BEAT, name="embed-1")])
    assert 0 < await redis.ttl(keys.worker("embed", "embed-0")) <= TTL_S
    await redis.delete(keys.worker("embed", "embed-0"))  # as its expiry does
    assert [found.name for found in await read_workers(redis)] == ["embed-1"]


async def test_names_of_workers_long_gone_leave_the_list(redis: Redis) -> None:
    await beat(redis, [replace(BEAT, name="old")])
    await beat(redis, [replace(BEAT, name="new", beat_at=BEAT.beat_at + LISTED_MS)])
    assert await redis.zcard(keys.WORKERS) == 1


async def test_nobody_there_is_an_empty_list(redis: Redis) -> None:
    assert await read_workers(redis) == []


async def test_an_outage_leaves_beats_out_and_ends_nothing(
    redis: Redis, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CONNECT_TIMEOUT_S", 0.1)
    ticks = iter(range(1_000_000))
    asked: list[int] = []

    def clock() -> int:
        asked.append(next(ticks))
        return asked[-1]

    async with open_consumer(f"unix://{tmp_path_factory.mktemp('no')}/redis.sock", block_ms=0) as nobody:
        beating = asyncio.create_task(keep_beating(nobody, [consumer(redis, Ledger())], clock, every_s=0.001))
        await eventually(lambda: len(asked) > 4)
        assert not beating.done()
        beating.cancel()
