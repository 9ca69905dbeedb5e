"""Accepting: once per event, durable in stream, tail and receipt, whatever is repeated."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from typing import cast

import pytest
from redis.asyncio import Redis

from lithify.errors import Misconfigured, Unavailable
from lithify.events import TenantScope
from lithify.events.turn import MAX_SEQ
from lithify.streams import Producer, Receipts, Retention, keys, open_consumer, pin_partitions, read_tail, script
from tests.integration.stream_parts import PARTITIONS, STREAM, accept, entries, producer, turn

SCOPE = TenantScope("default", user="u")
FARTHEST = 10**14


async def test_an_accepted_turn_is_on_the_stream_in_the_tail_and_has_a_receipt(redis: Redis) -> None:
    [result] = await Producer(redis, 1, lambda: 123).accept([(turn("e1"), "d1")])

    assert (result.event_id, result.status, result.seq) == ("e1", "accepted", 1)
    [(stream_id, fields)] = await entries(redis, STREAM)
    assert (stream_id, fields["seq"]) == (result.stream_id, "1")
    assert [event.event_id for event in await read_tail(redis, SCOPE, "s", 10, partitions=1)] == ["e1"]
    receipt = {"digest": "d1", "stream_id": result.stream_id, "seq": "1", "accepted_at": "123"}
    assert await Receipts(redis).read("default", "e1") == receipt


async def test_the_same_turn_again_is_a_duplicate_with_the_first_stream_id(redis: Redis) -> None:
    [first] = await producer(redis).accept([(turn("e1"), "d1")])
    [second] = await producer(redis).accept([(turn("e1"), "d1")])

    assert (second.status, second.stream_id, second.seq) == ("duplicate", first.stream_id, first.seq)
    assert await redis.xlen(STREAM) == 1
    assert len(await read_tail(redis, SCOPE, "s", 10, partitions=1)) == 1


async def test_the_same_id_with_other_content_is_a_conflict_and_changes_nothing(redis: Redis) -> None:
    await producer(redis).accept([(turn("e1"), "d1")])
    [second] = await producer(redis).accept([(turn("e1", text="other"), "d2")])

    assert second.status == "conflict"
    assert await redis.xlen(STREAM) == 1
    assert [event.text for event in await read_tail(redis, SCOPE, "s", 10, partitions=1)] == ["hello"]


async def test_items_of_a_batch_are_judged_one_by_one_also_against_each_other(redis: Redis) -> None:
    items = [(turn("e1"), "d1"), (turn("e1"), "d1"), (turn("e1"), "d2"), (turn("e2"), "d1")]
    results = await producer(redis).accept(items)
    assert [result.status for result in results] == ["accepted", "duplicate", "conflict", "accepted"]


async def test_an_event_id_of_another_tenant_is_another_event(redis: Redis) -> None:
    items = [(turn("e1", tenant="a"), "d1"), (turn("e1", tenant="b"), "d2")]
    results = await producer(redis).accept(items)
    assert [result.status for result in results] == ["accepted", "accepted"]


async def test_positions_count_per_session_and_follow_a_given_one(redis: Redis) -> None:
    items = [turn("e1"), turn("e2", seq=10), turn("e3"), turn("e4", seq=3), turn("e5"), turn("x1", session="other")]
    results = await producer(redis).accept([(event, "d") for event in items])
    assert [result.seq for result in results] == [1, 10, 11, 3, 12, 1]


async def test_behind_the_largest_position_counting_goes_on_unrounded(redis: Redis) -> None:
    largest = MAX_SEQ - 1
    items = [turn("e1", seq=largest), turn("e2"), turn("e3")]
    results = await producer(redis).accept([(event, "d") for event in items])
    assert [result.seq for result in results] == [largest, largest + 1, largest + 2]
    tail = await read_tail(redis, SCOPE, "s", 3, partitions=1)
    assert [event.seq for event in tail] == [largest, largest + 1, largest + 2]


async def test_a_position_far_ahead_of_its_session_is_refused_and_changes_nothing(redis: Redis) -> None:
    await accept(redis, "e1")
    items = [turn("far", seq=1 + FARTHEST + 1), turn("near", seq=1 + FARTHEST), turn("next")]
    far, near, following = await producer(redis).accept([(event, "d") for event in items])
    assert (far.status, far.seq) == ("far", 1)
    assert [(one.status, one.seq) for one in (near, following)] == [
        ("accepted", 1 + FARTHEST),
        ("accepted", 2 + FARTHEST),
    ]
    assert await Receipts(redis).read("default", "far") is None
    assert [event.event_id for event in await read_tail(redis, SCOPE, "s", 9, partitions=1)] == ["e1", "near", "next"]
    assert await redis.xlen(STREAM) == 3


@pytest.mark.parametrize("first", [1_700_000_000_000, 1_700_000_000_000_000], ids=["milliseconds", "microseconds"])
async def test_a_host_may_number_by_its_clock(redis: Redis, first: int) -> None:
    later = first + first // 1_000  # weeks later
    results = await producer(redis).accept([(turn("e1", seq=first), "d"), (turn("e2", seq=later), "d")])
    assert [(result.status, result.seq) for result in results] == [("accepted", first), ("accepted", later)]


async def test_imported_positions_lift_a_session_only_within_reach(redis: Redis) -> None:
    async def lift(position: int) -> None:
        await script.load("lift").run(redis, [keys.session_seq(0, "default", "u", "s")], [100, position])

    async def count(event_id: str) -> int:
        [result] = await producer(redis).accept([(turn(event_id), "d")])
        return result.seq

    await lift(MAX_SEQ)
    assert await count("e1") == 1
    await lift(40)
    assert await count("e2") == 41
    await lift(41 + FARTHEST + 1)
    assert await count("e3") == 42
    await lift(7)
    assert await count("e4") == 43


async def test_concurrent_retries_of_one_event_make_one_entry(redis: Redis) -> None:
    results = await asyncio.gather(*(producer(redis).accept([(turn("e1"), "d1")]) for _ in range(20)))
    assert sorted(result.status for [result] in results) == ["accepted"] + ["duplicate"] * 19
    assert await redis.xlen(STREAM) == 1


async def test_a_server_that_forgot_the_script_is_told_again(redis: Redis) -> None:
    await accept(redis, "e1")
    await redis.script_flush()
    await accept(redis, "e2")
    assert await redis.xlen(STREAM) == 2


async def test_a_batch_spreads_over_partitions_and_a_session_stays_in_one(redis: Redis) -> None:
    items = [(turn(f"{session}-{n}", session=f"s{session}"), "d") for session in range(8) for n in range(3)]
    await producer(redis, PARTITIONS).accept(items)

    lengths = [await redis.xlen(keys.turns(partition)) for partition in range(PARTITIONS)]
    assert sum(lengths) == 24
    assert all(length and length % 3 == 0 for length in lengths)


async def test_an_empty_batch_is_no_call(redis: Redis) -> None:
    assert await producer(redis).accept([]) == []


async def test_every_key_but_the_stream_expires(redis: Redis) -> None:
    kept = Retention(receipt_s=100, tail_s=200, session_s=300)
    await Producer(redis, 1, lambda: 0, kept).accept([(turn("e1"), "d")])

    lifetimes = {key.decode(): await redis.ttl(key) for key in cast("list[bytes]", await redis.keys())}
    assert lifetimes.pop(STREAM) == -1
    assert 90 < lifetimes.pop(keys.receipt("default", "e1")) <= 100
    assert 190 < lifetimes.pop(keys.tail(0, "default", "u", "s")) <= 200
    assert 290 < lifetimes.pop(keys.session_seq(0, "default", "u", "s")) <= 300
    assert not lifetimes


async def test_the_tail_keeps_the_newest_turns_only(redis: Redis) -> None:
    kept = Retention(tail_length=3)
    await Producer(redis, 1, lambda: 0, kept).accept([(turn(f"e{n}"), "d") for n in range(5)])
    assert [event.event_id for event in await read_tail(redis, SCOPE, "s", 10, partitions=1)] == ["e2", "e3", "e4"]


async def test_the_tail_is_bounded_in_bytes_and_keeps_the_newest_in_any_case(redis: Redis) -> None:
    bounded = Producer(redis, 1, lambda: 0, Retention(tail_length=10, tail_bytes=100_000))

    async def send(name: str, size: int) -> list[str]:
        await bounded.accept([(turn(name, text="x" * size), "d")])
        return [event.event_id for event in await read_tail(redis, SCOPE, "s", 10, partitions=1)]

    for number in range(4):
        await send(f"large{number}", 30_000)
    assert await send("small", 10) == ["large1", "large2", "large3", "small"]
    assert await send("larger", 60_000) == ["large3", "small", "larger"]
    assert await send("largest", 200_000) == ["largest"]
    assert await send("last", 10) == ["largest", "last"]


async def test_a_flood_of_large_turns_leaves_a_tail_of_bounded_size(redis: Redis) -> None:
    bounded = Producer(redis, 1, lambda: 0, Retention(tail_length=10, tail_bytes=100_000))
    key = keys.tail(0, "default", "u", "s")
    for number in range(60):
        size = (50_000, 9_000, 10)[number % 3] if number < 30 else 9_000
        await bounded.accept([(turn(f"e{number}", text="x" * size), "d")])
        entries = await cast("Awaitable[list[bytes]]", redis.lrange(key, 0, -1))
        assert sum(map(len, entries)) <= 200_000


async def test_the_tail_gives_the_last_turns_in_order_of_speaking(redis: Redis) -> None:
    items = [turn("late", seq=3), turn("early", seq=2), turn("first", seq=1), turn("newest")]
    await producer(redis).accept([(event, "d") for event in items])
    tail = await read_tail(redis, SCOPE, "s", 3, partitions=1)
    assert [(event.event_id, event.seq) for event in tail] == [("first", 1), ("early", 2), ("newest", 4)]


@pytest.mark.parametrize(
    "scope", [TenantScope("other", user="u"), TenantScope("default", user="someone else")], ids=["tenant", "user"]
)
async def test_the_tail_of_others_is_empty(redis: Redis, scope: TenantScope) -> None:
    await accept(redis, "e1")
    assert await read_tail(redis, scope, "s", 10, partitions=1) == []


async def test_sessions_of_two_users_may_have_one_name(redis: Redis) -> None:
    await producer(redis).accept([(turn("mine"), "d"), (replace(turn("theirs"), user="v"), "d")])
    assert [event.event_id for event in await read_tail(redis, SCOPE, "s", 10, partitions=1)] == ["mine"]


async def test_no_tail_is_read_for_a_limit_of_zero(redis: Redis) -> None:
    await accept(redis, "e1")
    assert await read_tail(redis, SCOPE, "s", 0, partitions=1) == []


async def test_marks_are_added_to_receipts_and_keep_their_lifetime(redis: Redis) -> None:
    await producer(redis).accept([(turn("e1"), "d"), (turn("e2"), "d")])
    await redis.expire(keys.receipt("default", "e1"), 50)

    await Receipts(redis).mark("default", [("e1", {"embedded_at": 5, "by": "w"}), ("e2", {"error": "no"}), ("e1", {})])

    first = await Receipts(redis).read("default", "e1")
    second = await Receipts(redis).read("default", "e2")
    assert first is not None
    assert second is not None
    assert (first["embedded_at"], first["by"], first["digest"], second["error"]) == ("5", "w", "d", "no")
    assert 40 < await redis.ttl(keys.receipt("default", "e1")) <= 50


async def test_an_expired_receipt_is_not_brought_back_by_a_mark(redis: Redis) -> None:
    await Receipts(redis).mark("default", [("gone", {"embedded_at": 5})])
    assert await Receipts(redis).read("default", "gone") is None


async def test_an_unreachable_server_is_unavailable(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with open_consumer(f"unix://{tmp_path_factory.mktemp('no')}/redis.sock", block_ms=0) as nobody:
        with pytest.raises(Unavailable):
            await producer(nobody).accept([(turn("e1"), "d")])
        with pytest.raises(Unavailable):
            await Receipts(nobody).read("default", "e1")
        with pytest.raises(Unavailable):
            await read_tail(nobody, SCOPE, "s", 1, partitions=1)


async def test_a_full_server_refuses_the_whole_batch_and_forgets_it(redis: Redis) -> None:
    await accept(redis, "before")
    await redis.config_set("maxmemory", 1)
    try:
        with pytest.raises(Unavailable):
            await accept(redis, "e1", "e2")
    finally:
        await redis.config_set("maxmemory", 0)
    results = await producer(redis).accept([(turn("e1"), "digest"), (turn("e2"), "digest")])
    assert [(result.status, result.seq) for result in results] == [("accepted", 2), ("accepted", 3)]


async def test_the_number_of_partitions_cannot_change_under_the_data(redis: Redis) -> None:
    await pin_partitions(redis, 4)
    await pin_partitions(redis, 4)
    with pytest.raises(Misconfigured, match="cannot be 8: this Redis holds data in 4 partitions"):
        await pin_partitions(redis, 8)


async def test_heartbeats_have_a_receipt_and_a_position_but_no_place_in_the_tail(redis: Redis) -> None:
    spoken = turn("e1")
    beats = [replace(turn(f"b{n}"), source_kind=kind) for n, kind in enumerate(("heartbeat", "Heartbeat"))]
    results = await producer(redis).accept([(event, "d") for event in (spoken, *beats, turn("e2"))])
    assert [(result.status, result.seq) for result in results] == [("accepted", seq) for seq in (1, 2, 3, 4)]
    assert [event.event_id for event in await read_tail(redis, SCOPE, "s", 10, partitions=1)] == ["e1", "e2"]
    receipt = await Receipts(redis).read("default", "b0")
    assert receipt is not None
    assert receipt["seq"] == "2"
