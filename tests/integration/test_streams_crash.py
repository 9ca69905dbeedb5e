"""One test per window in which a worker may die: afterwards every message has had its effect, and none is stuck."""

import asyncio
import sys

import pytest
from redis.asyncio import Redis

from lithify.streams import keys
from tests.integration.stream_parts import CALM, STREAM, Ledger, accept, consumer, entries, eventually, pending, running

WORKER = """
import asyncio, sys
from lithify.errors import Invalid
from lithify.events import system_clock
from lithify.streams import Consumer, ConsumerSettings, arm, open_consumer

async def main(url, crash_at, stream):
    async with open_consumer(url, 10) as redis:
        async def handler(deliveries):
            for delivery in deliveries:
                if delivery.event.event_id == "bad":
                    raise Invalid("bad")
                await redis.incr("effects:" + delivery.event.event_id)
                await redis.expire("effects:" + delivery.event.event_id, 600)

        arm(crash_at)
        await Consumer(redis, [stream], "embed", "embed-0", handler, ConsumerSettings(block_ms=10), system_clock).run()

asyncio.run(main(*sys.argv[1:]))
"""


async def die_at(crash_point: str, redis_url: str) -> None:
    worker = await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, redis_url, crash_point, STREAM)
    async with asyncio.timeout(30):
        assert await worker.wait() == 137


@pytest.mark.parametrize(
    ("crash_point", "effects_before"), [("after_read", 0), ("before_ack", 1)], ids=["after_read", "before_ack"]
)
async def test_a_worker_dying_around_its_work_loses_nothing(
    redis: Redis, redis_url: str, crash_point: str, effects_before: int
) -> None:
    await accept(redis, "e1", "e2")
    await die_at(crash_point, redis_url)
    assert [int(await redis.get(f"effects:{name}") or 0) for name in ("e1", "e2")] == [effects_before] * 2
    assert await pending(redis) == 2

    ledger = Ledger()
    async with running(consumer(redis, ledger, CALM)):
        await eventually(lambda: ledger.done == ["e1", "e2"])
    assert ledger.attempts == [2, 2]
    assert await pending(redis) == 0


async def test_a_worker_dying_in_the_dead_letter_move_leaves_one_letter_in_the_end(
    redis: Redis, redis_url: str
) -> None:
    await redis.xadd(STREAM, {"event": "unreadable"})
    await die_at("dead_letter", redis_url)
    assert await redis.xlen(keys.dead(0)) == 0
    assert await pending(redis) == 1

    worker = consumer(redis, Ledger(), CALM)
    async with running(worker):
        await eventually(lambda: worker.tally.dead == 1)
    [(_, letter)] = await entries(redis, keys.dead(0))
    assert (letter["event"], letter["dead_attempts"]) == ("unreadable", "2")
    assert await pending(redis) == 0
