"""Consuming: nothing lost, nothing acknowledged before its effect, and bad messages alone pay for being bad."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from redis.asyncio import Redis

from lithify.errors import Invalid
from lithify.events import system_clock
from lithify.streams import Consumer, Delivery, Receipts, keys, publish_stored
from lithify.streams.member import Member
from tests.integration.stream_parts import (
    CALM,
    DEAD,
    GROUP,
    QUICK,
    STREAM,
    Ledger,
    accept,
    consumer,
    entries,
    eventually,
    pending,
    poison,
    producer,
    running,
    turn,
)


async def test_events_accepted_before_the_group_existed_are_delivered(redis: Redis) -> None:
    await accept(redis, "e1", "e2")
    ledger = Ledger()
    async with running(consumer(redis, ledger)):
        await eventually(lambda: len(ledger.done) == 2)
    assert ledger.calls == [["e1", "e2"]]


async def test_messages_are_pending_until_handled_and_acknowledged_then(redis: Redis) -> None:
    seen: list[int] = []

    async def handler(deliveries: Sequence[Delivery]) -> None:
        seen.append(await pending(redis))

    await accept(redis, "e1", "e2", "e3")
    worker = consumer(redis, handler)
    async with running(worker):
        await eventually(lambda: worker.tally.handled == 3)
    assert seen == [3]
    assert await pending(redis) == 0


async def test_one_bad_message_does_not_take_its_neighbours_along(redis: Redis) -> None:
    await accept(redis, "good-1", "bad", "good-2")
    ledger = poison("bad", error=Invalid)
    worker = consumer(redis, ledger, CALM)
    async with running(worker):
        await eventually(lambda: worker.tally.dead == 1)
        await eventually(lambda: len(ledger.done) == 2)
    assert ledger.done == ["good-1", "good-2"]
    assert [fields["dead_reason"] for _, fields in await entries(redis, DEAD)] == ["Invalid: cannot digest bad"]
    assert await pending(redis) == 0


async def test_a_failing_message_is_tried_five_times_then_dead_with_all_that_is_known(redis: Redis) -> None:
    [stream_id] = await accept(redis, "bad")
    [(_, original)] = await entries(redis, STREAM)
    ledger = poison("bad")
    worker = Consumer(redis, [STREAM], GROUP, "embed-0", ledger, QUICK, clock=lambda: 77)
    async with running(worker):
        await eventually(lambda: worker.tally.dead == 1)

    assert ledger.attempts == [1, 2, 3, 4, 5]
    [(_, letter)] = await entries(redis, DEAD)
    assert letter == original | {
        "dead_stream": STREAM,
        "dead_group": GROUP,
        "dead_id": stream_id,
        "dead_reason": "RuntimeError: cannot digest bad",
        "dead_attempts": "5",
        "dead_first_seen": stream_id.split("-")[0],
        "dead_last_seen": "77",
    }
    receipt = await Receipts(redis).read("default", "bad")
    assert receipt is not None
    assert receipt["error"] == "RuntimeError: cannot digest bad"
    assert await pending(redis) == 0


async def test_a_late_worker_cannot_bury_what_another_has_finished(redis: Redis) -> None:
    await accept(redis, "e1")
    member = Member(redis, [STREAM], GROUP, "embed-0")
    await member.join()
    [entry] = await member.read(1, block_ms=10)
    await member.acknowledge(STREAM, [entry.stream_id])

    await member.bury(entry, "too late", now_ms=0)

    assert await redis.xlen(DEAD) == 0
    receipt = await Receipts(redis).read("default", "e1")
    assert receipt is not None
    assert "error" not in receipt


async def test_an_unreadable_message_is_dead_at_once_and_never_reaches_the_handler(redis: Redis) -> None:
    await redis.xadd(STREAM, {"event": "{", "seq": 1})
    await accept(redis, "good")
    ledger = Ledger()
    worker = consumer(redis, ledger)
    async with running(worker):
        await eventually(lambda: ledger.done == ["good"])
    assert (worker.tally.dead, ledger.attempts) == (1, [1])
    [(_, letter)] = await entries(redis, DEAD)
    assert (letter["event"], letter["dead_attempts"]) == ("{", "1")


async def test_stop_finishes_what_is_in_flight_and_reads_no_more(redis: Redis) -> None:
    started, finish = asyncio.Event(), asyncio.Event()

    async def slow(_deliveries: Sequence[Delivery]) -> None:
        started.set()
        await finish.wait()

    await accept(redis, "e1")
    worker = consumer(redis, slow)
    running_task = asyncio.create_task(worker.run())
    await started.wait()
    await accept(redis, "e2")
    worker.stop()
    assert not worker.ready
    finish.set()
    await running_task

    assert worker.tally.handled == 1
    assert await pending(redis) == 0
    assert (await redis.xinfo_groups(STREAM))[0]["last-delivered-id"] == (await redis.xinfo_stream(STREAM))[
        "first-entry"
    ][0]


async def test_cancelling_does_not_break_off_an_acknowledgement(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    acknowledging, go_on = asyncio.Event(), asyncio.Event()
    plain = Member.acknowledge

    async def slow(member: Member, stream: str, stream_ids: Sequence[str]) -> None:
        acknowledging.set()
        await go_on.wait()
        await plain(member, stream, stream_ids)

    monkeypatch.setattr(Member, "acknowledge", slow)
    await accept(redis, "e1")
    task = asyncio.create_task(consumer(redis, Ledger()).run())
    await acknowledging.wait()
    task.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await pending(redis) == 0


async def test_cancelling_twice_does_not_wait_for_the_acknowledgement(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    acknowledging = asyncio.Event()

    async def never(_member: Member, _stream: str, _stream_ids: Sequence[str]) -> None:
        acknowledging.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(Member, "acknowledge", never)
    await accept(redis, "e1")
    worker = consumer(redis, Ledger())
    task = asyncio.create_task(worker.run())
    await acknowledging.wait()
    task.cancel()
    await eventually(lambda: not worker.ready)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(20):
            await task
    assert await pending(redis) == 1


async def accept_of(redis: Redis, tenants: Sequence[str], count: int) -> list[str]:
    """Accepts turns of the tenants in turn and returns their event ids."""
    events = [turn(f"e{number}", tenant=tenants[number % len(tenants)]) for number in range(count)]
    await producer(redis).accept([(event, "d") for event in events])
    return [event.event_id for event in events]


SLOW = replace(CALM, dead_in_a_row=3, first_pause_ms=3_600_000, longest_pause_ms=3_600_000)
"""A pause that no test sees the end of."""


async def test_a_worker_that_buries_what_several_tenants_send_goes_unready_and_gives_the_rest_back(
    redis: Redis,
) -> None:
    expected = await accept_of(redis, ("a", "b"), 20)
    worker = consumer(redis, poison(*expected, error=Invalid), SLOW)
    async with running(worker):
        await eventually(lambda: not worker.ready and worker.tally.dead > 0)
        assert "dead letters in a row" in (worker.outage or "")
    buried = worker.tally.dead
    assert buried < 20

    ledger = Ledger()
    async with running(consumer(redis, ledger, CALM, "embed-1")):
        await eventually(lambda: len(ledger.done) == 20 - buried)
    assert set(ledger.attempts) == {1}


async def test_a_worker_that_seemed_broken_goes_on_by_itself_once_a_message_goes_well(redis: Redis) -> None:
    bad = await accept_of(redis, ("a", "b"), 12)
    worker = consumer(redis, poison(*bad, error=Invalid), replace(CALM, dead_in_a_row=3))
    async with running(worker):
        await eventually(lambda: worker.tally.dead == 12)
        assert not worker.ready
        await accept(redis, "good")
        await eventually(lambda: worker.ready)
    assert worker.tally.handled == 1


async def test_one_tenant_that_sends_nothing_but_bad_messages_stops_nobody(redis: Redis) -> None:
    bad = await accept_of(redis, ("mallory",), 60)
    await producer(redis).accept([(turn("good", tenant="alice"), "d")])
    ledger = poison(*bad, error=Invalid)
    worker = consumer(redis, ledger, SLOW)
    async with running(worker):
        await eventually(lambda: ledger.done == ["good"])
        await eventually(lambda: worker.tally.dead == 60)
        assert worker.ready


async def test_messages_nobody_can_read_tell_of_a_worker_too_old_for_them(redis: Redis) -> None:
    for _ in range(10):
        await redis.xadd(STREAM, {"event": '{"v":99}'})
    worker = consumer(redis, Ledger(), SLOW)
    async with running(worker):
        await eventually(lambda: not worker.ready and worker.tally.dead > 0)
    assert worker.tally.dead < 10


async def test_a_batch_is_bounded_by_count_and_by_bytes(redis: Redis) -> None:
    events = [turn(f"e{number}", text="x" * 1_000) for number in range(20)]
    await producer(redis).accept([(event, "d") for event in events])
    sizes: list[int] = []

    async def handler(deliveries: Sequence[Delivery]) -> None:
        sizes.append(sum(delivery.entry.size for delivery in deliveries))
        assert len(deliveries) <= 8

    worker = consumer(redis, handler, replace(CALM, batch=8, batch_bytes=4_000))
    async with running(worker):
        await eventually(lambda: worker.tally.handled == 20)
    assert max(sizes) <= 4_000


async def test_what_waits_in_memory_shrinks_when_messages_are_large(redis: Redis) -> None:
    await producer(redis).accept([(turn(f"e{number}", text="x" * 1_000), "d") for number in range(20)])
    held: list[int] = []

    async def handler(_deliveries: Sequence[Delivery]) -> None:
        held.append(await pending(redis))

    worker = consumer(redis, handler, replace(CALM, batch=8, batch_bytes=4_000))
    async with running(worker):
        await eventually(lambda: worker.tally.handled == 20)
    # The first read cannot know; every later one asks for three messages at most.
    assert max(held[3:]) <= 3


async def test_one_member_reads_all_streams_and_never_more_than_it_has_room_for(redis: Redis) -> None:
    streams = [keys.turns(partition) for partition in range(3)]
    for number in range(40):
        await redis.xadd(streams[0], {"event": f"{number}"})
    await redis.xadd(streams[2], {"event": "x"})
    member = Member(redis, streams, GROUP, "embed-0")
    await member.join()

    batch = await member.read(9, block_ms=10)

    assert len(batch) == 9
    assert {entry.stream for entry in batch} == {streams[0], streams[2]}


async def test_two_consumers_share_the_work_without_handling_anything_twice(redis: Redis) -> None:
    expected = [f"e{number:03}" for number in range(300)]
    await accept(redis, *expected)
    first, second = Ledger(), Ledger()
    settings = replace(CALM, batch=16)
    async with running(consumer(redis, first, settings, "embed-0"), consumer(redis, second, settings, "embed-1")):
        await eventually(lambda: len(first.done) + len(second.done) >= 300)
    assert sorted(first.done + second.done) == expected
    assert first.done
    assert second.done


async def test_each_group_gets_every_message(redis: Redis) -> None:
    await accept(redis, "e1", "e2")
    embed, archive = Ledger(), Ledger()
    other = Consumer(redis, [STREAM], "archive", "archive-0", archive, QUICK, system_clock)
    async with running(consumer(redis, embed), other):
        await eventually(lambda: embed.done == archive.done == ["e1", "e2"])


async def test_stored_events_are_announced_to_their_partition_with_their_position(redis: Redis) -> None:
    async def handler(deliveries: Sequence[Delivery]) -> None:
        await publish_stored(redis, deliveries)

    await accept(redis, "e1", "e2")
    gate = Ledger()
    gating = Consumer(redis, [keys.stored(0)], "gate", "gate-0", gate, QUICK, system_clock)
    async with running(consumer(redis, handler), gating):
        await eventually(lambda: gate.done == ["e1", "e2"])
    assert await entries(redis, keys.stored(0)) != []
    assert [fields["seq"] for _, fields in await entries(redis, keys.stored(0))] == ["1", "2"]
