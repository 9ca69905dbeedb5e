"""Fairness: whoever sends much waits behind itself, and nobody else waits behind it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from redis.asyncio import Redis

from lithify.errors import Invalid, Overloaded
from lithify.events import EVERY_TENANT, system_clock
from lithify.gateway.back_pressure import BackPressure
from lithify.streams import Consumer, DeadLetters, Delivery, Limits, Producer, keys
from lithify.streams.consumer import part_lanes
from lithify.streams.delivery import StreamEntry
from lithify.streams.member import Member
from tests.integration.stream_parts import CALM, GROUP, STREAM, Ledger, entries, eventually, poison, running, turn

BULK = keys.bulk(0)
LANES = [STREAM, BULK]
READERS = {stream: {GROUP} for stream in LANES}
SHARE = 4


async def send(redis: Redis, tenant: str, *names: str, share: int = SHARE) -> list[str]:
    """Accepts turns of a tenant and returns the lane of each."""
    producer = Producer(redis, 1, system_clock, share=share)
    accepted = await producer.accept([(turn(name, tenant=tenant), "d") for name in names])
    assert {one.status for one in accepted} == {"accepted"}
    piled = [fields["event"] for _, fields in await entries(redis, BULK)]
    return ["bulk" if any(f'"{name}"' in event for event in piled) else "turns" for name in names]


async def read_all(redis: Redis, *streams: str) -> None:
    """Has the group read, and finish, all there is."""
    member = Member(redis, streams, GROUP, "embed-0")
    await member.join()
    while batch := await member.read(100, block_ms=1):
        for entry in batch:
            await member.acknowledge(entry.stream, [entry.stream_id])


def names(tenant: str, count: int, start: int = 0) -> list[str]:
    return [f"{tenant}-{number}" for number in range(start, start + count)]


@pytest.mark.parametrize("size", [1, 3, 10], ids=["one by one", "in batches", "at once"])
async def test_of_a_tenant_that_sends_much_only_its_share_stands_before_others(redis: Redis, size: int) -> None:
    every = names("loud", 10)
    lanes = [lane for at in range(0, 10, size) for lane in await send(redis, "loud", *every[at : at + size])]
    assert lanes == ["turns"] * SHARE + ["bulk"] * 6
    assert await send(redis, "quiet", *names("quiet", 2)) == ["turns"] * 2


async def test_without_a_share_all_stand_in_one_lane(redis: Redis) -> None:
    assert await send(redis, "loud", *names("loud", 10), share=0) == ["turns"] * 10
    assert not await redis.exists(keys.lane(0, "loud"))


async def test_a_tenant_goes_on_in_bulk_until_nothing_of_it_waits_there_so_that_its_turns_keep_their_order(
    redis: Redis,
) -> None:
    await send(redis, "loud", *names("loud", 6))
    await read_all(redis, STREAM)
    assert await send(redis, "loud", "later") == ["bulk"]
    await read_all(redis, BULK)
    assert await send(redis, "loud", *names("again", 5)) == ["turns"] * SHARE + ["bulk"]


async def test_a_tenant_whose_turns_are_read_in_time_never_leaves_the_first_lane(redis: Redis) -> None:
    for number in range(5 * SHARE):
        assert await send(redis, "steady", f"e{number}") == ["turns"]
        await read_all(redis, *LANES)
    assert await redis.xlen(BULK) == 0


async def test_what_was_forgotten_in_bulk_does_not_keep_a_tenant_there(redis: Redis) -> None:
    await send(redis, "loud", *names("loud", 6))
    await redis.xtrim(BULK, maxlen=0, approximate=False)
    await read_all(redis, *LANES)
    await send(redis, "loud", "one more")
    await read_all(redis, *LANES)
    assert await send(redis, "loud", "and another") == ["turns"]


async def test_a_quiet_tenant_is_served_before_the_flood_is_worked_off_and_the_flood_goes_on(redis: Redis) -> None:
    await send(redis, "loud", *names("loud", 400))
    ledger = Ledger()
    settings = replace(CALM, batch=16, bulk_batch=8)
    seen_before: list[int] = []

    async def handler(deliveries: Sequence[Delivery]) -> None:
        if len(ledger.done) >= 40 and not seen_before:
            seen_before.append(len(ledger.done))
            await send(redis, "quiet", "please")
        await ledger(deliveries)

    worker = Consumer(redis, LANES, GROUP, "embed-0", handler, settings, system_clock)
    async with running(worker):
        await eventually(lambda: len(ledger.done) == 401)
    # The batch at hand, and no more, came before it.
    assert ledger.done.index("please") - seen_before[0] <= settings.bulk_batch
    assert sorted(ledger.done) == sorted([*names("loud", 400), "please"])


async def test_the_flood_is_read_while_others_keep_the_first_lane_full(redis: Redis) -> None:
    """Neither lane starves: every read takes of both."""
    await send(redis, "loud", *names("loud", 50))
    for number in range(100):
        await send(redis, f"tenant-{number}", f"t{number}")
    member = Member(redis, LANES, GROUP, "embed-0")
    await member.join()
    batch = await member.read(16, block_ms=10, bulk=8)
    bulk = [entry for entry in batch if keys.is_bulk(entry.stream)]
    assert (len(bulk), len(batch) - len(bulk)) == (8, 16)


def test_bulk_is_handled_behind_all_else_of_a_read() -> None:
    made = [StreamEntry(stream, f"{at}-0", {}, 1) for at, stream in enumerate([BULK, STREAM, BULK, STREAM])]
    first, second = part_lanes(made)
    assert [entry.stream_id for entry in first] == ["1-0", "3-0"]
    assert [entry.stream_id for entry in second] == ["0-0", "2-0"]


async def test_a_tenant_that_piles_up_too_much_is_refused_and_nobody_else(redis: Redis) -> None:
    """And what it sent is neither counted nor kept: the same sent later is accepted as if for the first time."""
    await send(redis, "loud", *names("loud", 6))
    closed = Producer(redis, 1, system_clock, share=SHARE, is_bulk_open=lambda: False)
    with pytest.raises(Overloaded, match="of this tenant"):
        await closed.accept([(turn("one more", tenant="loud"), "d")])
    [other] = await closed.accept([(turn("q", tenant="quiet"), "d")])
    [known] = await closed.accept([(turn("loud-5", tenant="loud"), "d")])
    assert (other.status, known.status) == ("accepted", "duplicate")

    await read_all(redis, *LANES)
    [later] = await closed.accept([(turn("one more", tenant="loud"), "d")])
    assert (later.status, later.seq) == ("accepted", 7)


async def test_a_flood_closes_bulk_and_leaves_the_gateway_open(redis: Redis) -> None:
    await send(redis, "loud", *names("loud", 40))
    valve = BackPressure(redis, READERS, Limits(unread=20))
    await valve.look()
    valve.check()
    assert not valve.is_bulk_open()
    await read_all(redis, *LANES)
    await valve.look()
    assert valve.is_bulk_open()


async def test_too_much_of_all_tenants_together_closes_the_gateway(redis: Redis) -> None:
    for number in range(30):
        await send(redis, f"tenant-{number}", f"t{number}")
    valve = BackPressure(redis, READERS, Limits(unread=20))
    await valve.look()
    with pytest.raises(Overloaded):
        valve.check()
    assert valve.is_bulk_open()


async def test_a_letter_from_bulk_goes_back_to_bulk(redis: Redis) -> None:
    await send(redis, "loud", *names("loud", 5))
    worker = Consumer(redis, LANES, GROUP, "embed-0", poison("loud-4", error=Invalid), CALM, system_clock)
    async with running(worker):
        await eventually(lambda: worker.tally.dead == 1)
    letters = DeadLetters(redis, 1, system_clock)
    [found] = await letters.ids(EVERY_TENANT)
    assert await letters.redrive(EVERY_TENANT, [found]) == {found: "redriven"}
    assert (await redis.xlen(STREAM), await redis.xlen(BULK)) == (4, 2)
