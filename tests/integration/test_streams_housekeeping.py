"""Trimming, lag and idle consumers: cleaning up never costs a message."""

from redis.asyncio import Redis

from lithify.streams import dismiss_idle, keys, read_lag, trim
from lithify.streams.member import Member
from tests.integration.stream_parts import GROUP, STREAM, accept, entries, pending

# More entries than a stream node holds (100), for Redis trims whole nodes.
MANY = 350


async def joined(redis: Redis, group: str = GROUP) -> Member:
    member = Member(redis, [STREAM], group, f"{group}-0")
    await member.join()
    return member


async def test_unacknowledged_entries_survive_trimming(redis: Redis) -> None:
    await accept(redis, *(f"e{number}" for number in range(MANY)))
    member = await joined(redis)
    batch = await member.read(MANY, block_ms=10)
    held = batch[120]
    await member.acknowledge(STREAM, [entry.stream_id for entry in batch if entry is not held])

    removed = await trim(redis, STREAM, required=[GROUP])

    assert 0 < removed <= 120
    assert held.stream_id in [stream_id for stream_id, _ in await entries(redis, STREAM)]


async def test_unread_entries_survive_trimming(redis: Redis) -> None:
    await accept(redis, *(f"e{number}" for number in range(MANY)))
    member = await joined(redis)
    batch = await member.read(250, block_ms=10)
    await member.acknowledge(STREAM, [entry.stream_id for entry in batch])

    assert 0 < await trim(redis, STREAM, required=[GROUP]) <= 250
    assert len(await member.read(MANY, block_ms=10)) == MANY - 250


async def test_the_group_that_is_behind_decides_what_may_go(redis: Redis) -> None:
    await accept(redis, *(f"e{number}" for number in range(MANY)))
    fast, slow = await joined(redis), await joined(redis, "archive")
    batch = await fast.read(MANY, block_ms=10)
    await fast.acknowledge(STREAM, [entry.stream_id for entry in batch])

    assert await trim(redis, STREAM, required=[GROUP]) == 0
    assert len(await slow.read(MANY, block_ms=10)) == MANY


async def test_nothing_is_trimmed_before_every_required_group_exists(redis: Redis) -> None:
    await accept(redis, *(f"e{number}" for number in range(MANY)))
    member = await joined(redis)
    batch = await member.read(MANY, block_ms=10)
    await member.acknowledge(STREAM, [entry.stream_id for entry in batch])

    assert await trim(redis, STREAM, required=[GROUP, "archive"]) == 0
    assert await trim(redis, STREAM, required=[GROUP]) > 0


async def test_a_stream_that_does_not_exist_is_neither_trimmed_nor_behind(redis: Redis) -> None:
    assert await trim(redis, keys.turns(9), required=[GROUP]) == 0
    assert await read_lag(redis, keys.turns(9)) == []


async def test_lag_counts_unread_and_pending_and_their_ages(redis: Redis) -> None:
    old_ms = (await redis.time())[0] * 1000 - 60_000
    for number in range(5):
        await redis.xadd(STREAM, {"event": "x"}, id=f"{old_ms + number * 10_000}-0")
    member = await joined(redis)
    await member.read(2, block_ms=10)

    [lag] = await read_lag(redis, STREAM)

    assert (lag.stream, lag.group, lag.unread, lag.pending) == (STREAM, GROUP, 3, 2)
    # The oldest pending entry is 60 s old and the oldest unread one 40 s, give or take the time of the test.
    assert 59_000 <= lag.oldest_pending_ms < 90_000
    assert 19_000 <= lag.oldest_pending_ms - lag.oldest_unread_ms <= 21_000


async def test_lag_is_exact_where_the_servers_own_figure_is_gone(redis: Redis) -> None:
    stream_ids = await accept(redis, *(f"e{number}" for number in range(6)))
    member = await joined(redis)
    await member.read(1, block_ms=10)
    await redis.xdel(STREAM, stream_ids[3])

    assert (await redis.xinfo_groups(STREAM))[0].get("lag") is None
    assert [lag.unread for lag in await read_lag(redis, STREAM)] == [4]


async def test_lag_counts_more_than_a_page(redis: Redis) -> None:
    await accept(redis, *(f"e{number}" for number in range(2_345)))
    await joined(redis)
    assert [lag.unread for lag in await read_lag(redis, STREAM)] == [2_345]


async def test_a_group_without_work_has_no_lag(redis: Redis) -> None:
    await accept(redis, "e1")
    member = await joined(redis)
    [entry] = await member.read(1, block_ms=10)
    await member.acknowledge(STREAM, [entry.stream_id])
    [lag] = await read_lag(redis, STREAM)
    assert (lag.unread, lag.pending, lag.oldest_unread_ms, lag.oldest_pending_ms) == (0, 0, 0, 0)


async def test_an_idle_consumer_is_dismissed_only_when_nothing_is_pending_for_it(redis: Redis) -> None:
    await accept(redis, "e1")
    holding = await joined(redis)
    await holding.read(1, block_ms=10)
    await redis.xgroup_createconsumer(STREAM, GROUP, "embed-empty")

    assert await dismiss_idle(redis, STREAM, GROUP, idle_ms=0) == ["embed-empty"]
    assert await pending(redis) == 1


async def test_a_consumer_heard_of_lately_stays(redis: Redis) -> None:
    await joined(redis)
    await redis.xgroup_createconsumer(STREAM, GROUP, "embed-0")
    assert await dismiss_idle(redis, STREAM, GROUP, idle_ms=60_000) == []
    assert len(await redis.xinfo_consumers(STREAM, GROUP)) == 1
