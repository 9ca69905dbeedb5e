"""Four failures seen in a close peer, each shown not to happen here as far as the streams are concerned."""

import asyncio
from collections.abc import Sequence

import pytest
from redis.asyncio import Redis

from lithify.streams import Delivery, Receipts
from lithify.streams.delivery import decode
from lithify.streams.member import Member
from tests.integration.stream_parts import (
    CALM,
    DEAD,
    GROUP,
    STREAM,
    Ledger,
    accept,
    consumer,
    eventually,
    pending,
    poison,
    producer,
    running,
    turn,
)


async def test_no_error_swallowed_inside_extraction_marks_messages_done(redis: Redis) -> None:
    """Here an error of the handler reaches the loop: what failed stays pending, its receipt says nothing of done."""
    await accept(redis, "good", "failing")
    ledger = poison("failing")
    worker = consumer(redis, ledger, CALM)
    async with running(worker):
        await eventually(lambda: (worker.tally.handled, worker.tally.failed) == (1, 1))

    assert ledger.done == ["good"]
    waiting = await Member(redis, [STREAM], GROUP, "embed-0").own(STREAM)
    receipt = await Receipts(redis).read("default", "failing")
    assert receipt is not None
    assert waiting == [receipt["stream_id"]]
    assert receipt.keys() == {"digest", "stream_id", "seq", "accepted_at"}


async def test_no_messages_marked_done_before_the_index_write(redis: Redis) -> None:
    """Here they are pending while the index is written; a worker dying in the write leaves them to the next one."""
    index: set[str] = set()
    pending_while_writing: list[int] = []

    async def dies_in_the_write(_deliveries: Sequence[Delivery]) -> None:
        pending_while_writing.append(await pending(redis))
        raise asyncio.CancelledError

    async def writes(deliveries: Sequence[Delivery]) -> None:
        index.update(delivery.event.event_id for delivery in deliveries)

    await accept(redis, "e1", "e2")
    with pytest.raises(asyncio.CancelledError):
        await consumer(redis, dies_in_the_write, CALM).run()
    assert (pending_while_writing, index) == ([2], set())

    async with running(consumer(redis, writes, CALM)):
        await eventually(lambda: index == {"e1", "e2"})
    assert await pending(redis) == 0


async def test_no_stale_document_written_back_over_a_newer_one(redis: Redis) -> None:
    """Here a worker that slept past its lease writes what is there already, and can neither finish nor bury again."""
    store: dict[str, str] = {}
    await producer(redis).accept([(turn("first", text="I live in Oslo"), "d"), (turn("second", text="Now Rome"), "d")])
    zombie = Member(redis, [STREAM], GROUP, "embed-zombie")
    await zombie.join()
    [late] = await zombie.read(1, block_ms=10)

    async def writes(deliveries: Sequence[Delivery]) -> None:
        store.update({delivery.event.event_id: delivery.event.text for delivery in deliveries})

    await redis.xclaim(STREAM, GROUP, "embed-zombie", 0, [late.stream_id], idle=CALM.lease_ms, justid=True)
    worker = consumer(redis, writes, CALM)
    async with running(worker):
        await eventually(lambda: worker.tally.handled == 2)
    finished = dict(store)

    await writes([decode(late)])
    await zombie.renew(STREAM, [late.stream_id])
    await zombie.acknowledge(STREAM, [late.stream_id])
    await zombie.bury(late, "woke up too late", now_ms=0)

    assert store == finished == {"first": "I live in Oslo", "second": "Now Rome"}
    assert (await pending(redis), await redis.xlen(DEAD)) == (0, 0)
    receipt = await Receipts(redis).read("default", "first")
    assert receipt is not None
    assert "error" not in receipt


async def cost_of_one_more(redis: Redis, event_id: str) -> tuple[list[list[str]], dict[str, int]]:
    """What the handler is given for one more event, and how often Redis is asked for anything but the next message."""
    asked = ("xack", "xpending", "xrange", "xrevrange", "lrange", "evalsha")
    await accept(redis, event_id)
    await redis.config_resetstat()
    ledger = Ledger()
    worker = consumer(redis, ledger, CALM)
    async with running(worker):
        await eventually(lambda: worker.tally.handled == 1)
    stats = await redis.info("commandstats")
    return ledger.calls, {name: stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in asked}


async def test_no_re_reading_the_whole_thread_for_every_event(redis: Redis) -> None:
    """Here one more event is all that is read for it, however long its session has become."""
    early, early_cost = await cost_of_one_more(redis, "early")

    await accept(redis, *(f"e{number}" for number in range(3_000)))
    ledger = Ledger()
    async with running(consumer(redis, ledger, CALM)):
        await eventually(lambda: len(ledger.done) == 3_000)
    late, late_cost = await cost_of_one_more(redis, "late")

    assert (early, late) == ([["early"]], [["late"]])
    assert early_cost == late_cost
    assert (late_cost["xrange"], late_cost["lrange"]) == (0, 0)
