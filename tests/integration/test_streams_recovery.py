"""Leases, crashes and outages: every message is taken up again, and no attempt is counted that was none."""

import asyncio
from collections.abc import Sequence

import pytest
from redis.asyncio import Redis

from lithify.errors import Unavailable
from lithify.streams import Delivery
from tests.integration.stream_parts import (
    CALM,
    DEAD,
    GROUP,
    STREAM,
    Ledger,
    accept,
    consumer,
    delivered_to,
    entries,
    eventually,
    pending,
    running,
)


async def lease_state(redis: Redis) -> tuple[int, int]:
    """Idle time and attempts of the only pending entry."""
    [state] = await redis.xpending_range(STREAM, GROUP, "-", "+", 1)
    return int(state["time_since_delivered"]), int(state["times_delivered"])


async def test_a_renewed_lease_neither_runs_out_nor_counts_as_an_attempt(redis: Redis) -> None:
    started, finish = asyncio.Event(), asyncio.Event()

    async def slow(_deliveries: Sequence[Delivery]) -> None:
        started.set()
        await finish.wait()

    await accept(redis, "e1")
    other = Ledger()
    async with running(consumer(redis, slow, name="embed-0")):
        await started.wait()
        async with running(consumer(redis, other, name="embed-1")), asyncio.timeout(20):
            # Eight renewals take two leases: time enough for the other consumer to take what it may.
            renewals, idle = 0, 0
            while renewals < 8:
                before, (idle, attempts) = idle, await lease_state(redis)
                renewals += idle < before
        assert attempts == 1
        finish.set()
    assert other.calls == []


async def test_messages_of_a_dead_consumer_are_taken_over_when_their_lease_runs_out(redis: Redis) -> None:
    await accept(redis, "e1", "e2")
    await delivered_to(redis, "embed-dead", 2)
    ledger = Ledger()
    async with running(consumer(redis, ledger)):
        await eventually(lambda: sorted(ledger.done) == ["e1", "e2"])
    assert ledger.attempts == [2, 2]
    assert await pending(redis) == 0


async def test_messages_of_a_live_consumer_are_left_alone(redis: Redis) -> None:
    await accept(redis, "e1")
    await delivered_to(redis, "embed-live", 1)
    await accept(redis, "e2")
    ledger = Ledger()
    async with running(consumer(redis, ledger, CALM)):
        await eventually(lambda: ledger.done == ["e2"])
    assert await pending(redis) == 1


async def test_after_a_restart_the_own_pending_messages_come_first_without_waiting_for_the_lease(redis: Redis) -> None:
    await accept(redis, "e1", "e2")
    await delivered_to(redis, "embed-0", 2)
    await accept(redis, "new")
    ledger = Ledger()
    async with running(consumer(redis, ledger, CALM, "embed-0")):
        await eventually(lambda: len(ledger.done) == 3)
    # Alone, so that a message that kills the process is known by its attempts and its neighbours are not.
    assert ledger.calls == [["e1"], ["e2"], ["new"]]


async def test_more_own_pending_messages_than_a_page_are_all_found(redis: Redis) -> None:
    expected = [f"e{number}" for number in range(250)]
    await accept(redis, *expected)
    await delivered_to(redis, "embed-0", 250)
    ledger = Ledger()
    async with running(consumer(redis, ledger, CALM, "embed-0")):
        await eventually(lambda: ledger.done == expected)


async def test_a_message_that_kills_every_worker_is_dead_and_its_neighbours_are_not(redis: Redis) -> None:
    await accept(redis, "before", "killer", "after")
    await delivered_to(redis, "embed-0", 3)
    kills = 0

    async def handler(deliveries: Sequence[Delivery]) -> None:
        nonlocal kills
        if any(delivery.event.event_id == "killer" for delivery in deliveries):
            kills += 1
            raise asyncio.CancelledError  # ends the loop without any clean-up of messages, as a crash does
        done.extend(delivery.event.event_id for delivery in deliveries)

    done: list[str] = []
    for _ in range(4):
        with pytest.raises(asyncio.CancelledError):
            await consumer(redis, handler, CALM).run()
    async with running(consumer(redis, handler, CALM)):
        await eventually(lambda: done == ["before", "after"])
    assert kills == 4
    [(_, letter)] = await entries(redis, DEAD)
    assert letter["dead_reason"] == "never acknowledged in 5 attempts; the worker died or hung"


async def test_a_group_destroyed_under_way_is_made_again_from_the_start(redis: Redis) -> None:
    await accept(redis, "e1")
    ledger = Ledger()
    async with running(consumer(redis, ledger)):
        await eventually(lambda: ledger.done == ["e1"])
        await redis.xgroup_destroy(STREAM, GROUP)
        await accept(redis, "e2")
        await eventually(lambda: "e2" in ledger.done)


async def test_an_entry_deleted_while_pending_is_counted_as_lost_and_does_not_stay(redis: Redis) -> None:
    [lost, _] = await accept(redis, "e1", "e2")
    await delivered_to(redis, "embed-0", 2)
    await redis.xdel(STREAM, lost)
    ledger = Ledger()
    worker = consumer(redis, ledger, name="embed-0")
    async with running(worker):
        await eventually(lambda: ledger.done == ["e2"])
    assert worker.tally.lost == 1
    assert await pending(redis) == 0


async def test_an_outage_burns_no_attempt_and_buries_nothing(redis: Redis) -> None:
    outages = iter([True] * 12 + [False])

    def judge(_delivery: Delivery) -> None:
        if next(outages):
            raise Unavailable("store is down")

    await accept(redis, "e1")
    ledger = Ledger(judge)
    worker = consumer(redis, ledger)
    async with running(worker):
        await eventually(lambda: ledger.done == ["e1"])
    assert set(ledger.attempts) == {1}
    assert len(ledger.attempts) == 13
    assert (worker.tally.dead, worker.tally.redelivered) == (0, 0)


async def test_during_an_outage_nothing_is_read_and_the_worker_is_not_ready(redis: Redis) -> None:
    def judge(_delivery: Delivery) -> None:
        raise Unavailable("store is down")

    await accept(redis, "e1")
    worker = consumer(redis, Ledger(judge), CALM)
    async with running(worker):
        await eventually(lambda: worker.outage == "store is down")
        await accept(redis, "e2")
        assert not worker.ready
        assert await pending(redis) == 1


async def test_a_stop_during_an_outage_gives_messages_back_as_if_never_delivered(redis: Redis) -> None:
    def judge(_delivery: Delivery) -> None:
        raise Unavailable("store is down")

    await accept(redis, "e1", "e2")
    for name in ("embed-0", "embed-1", "embed-2"):
        worker = consumer(redis, Ledger(judge), CALM, name)
        async with running(worker):
            await eventually(lambda worker=worker: worker.outage is not None)  # type: ignore[misc]  # bound early

    ledger = Ledger()
    async with running(consumer(redis, ledger, CALM, "embed-3")):
        await eventually(lambda: sorted(ledger.done) == ["e1", "e2"])
    assert ledger.attempts == [1, 1]
