"""Both places of receipts hold the same bounds, number, bytes and time of each tenant, and forget what is removed."""

import os
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from lithify.errors import Unavailable
from lithify.streams import keys, open_producer
from lithify.traces import FolderTraces, RedisTraces, TraceLimits, TraceShelf

Open = Callable[[TraceLimits], TraceShelf]


@pytest.fixture(params=["folder", "redis"])
def open_shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    if request.param == "folder":
        return lambda limits: FolderTraces(tmp_path / "traces", limits)
    redis: Redis = request.getfixturevalue("redis")
    return lambda limits: RedisTraces(redis, limits)


async def put_some(shelf: TraceShelf, tenant: str, sizes: list[int]) -> list[str]:
    ids = [uuid4().hex for _ in sizes]
    for trace_id, size in zip(ids, sizes, strict=True):
        await shelf.put(tenant, trace_id, b"x" * size)
    return ids


async def held(shelf: TraceShelf, tenant: str) -> set[str]:
    return {trace_id async for page in shelf.pages(tenant) for trace_id in page}


def list_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_receipt_is_its_tenants_alone(open_shelf: Open) -> None:
    shelf = open_shelf(TraceLimits())
    [mine] = await put_some(shelf, "acme", [3])
    assert await shelf.get("acme", mine) == b"xxx"
    assert await shelf.get("blue", mine) is None
    assert await shelf.get("acme", uuid4().hex) is None
    assert await held(shelf, "blue") == set()


async def test_the_oldest_make_room_beyond_a_number_and_other_tenants_are_not_touched(open_shelf: Open) -> None:
    shelf = open_shelf(TraceLimits(most=3))
    [other] = await put_some(shelf, "blue", [1])
    ids = await put_some(shelf, "acme", [1] * 5)
    assert await held(shelf, "acme") == set(ids[2:])
    assert await held(shelf, "blue") == {other}


async def test_the_oldest_make_room_beyond_a_size(open_shelf: Open) -> None:
    shelf = open_shelf(TraceLimits(most_bytes=1_000))
    ids = await put_some(shelf, "acme", [400, 300, 300, 500])
    assert await held(shelf, "acme") == set(ids[2:])


async def test_room_that_was_made_by_forgetting_is_counted_in_the_end(open_shelf: Open) -> None:
    shelf = open_shelf(TraceLimits(most=4))
    ids = await put_some(shelf, "acme", [1, 1])
    assert await shelf.remove("acme", [*ids, uuid4().hex]) == 2
    assert await shelf.remove("acme", []) == 0
    assert await held(shelf, "acme") == set()
    later = await put_some(shelf, "acme", [1] * 4)
    assert await held(shelf, "acme") == set(later)


async def test_more_receipts_than_a_page_are_all_found(open_shelf: Open) -> None:
    shelf = open_shelf(TraceLimits())
    ids = await put_some(shelf, "acme", [1] * 70)
    assert await held(shelf, "acme") == set(ids)


async def test_names_that_are_no_ids_lead_nowhere(open_shelf: Open) -> None:
    shelf = open_shelf(TraceLimits())
    await put_some(shelf, "..", [1])
    for name in ("../../redis/redis.conf", "..", "", "*"):
        assert await shelf.get("..", name) is None


async def test_every_key_in_redis_expires(redis: Redis) -> None:
    [trace_id] = await put_some(RedisTraces(redis, TraceLimits(ttl_s=30)), "acme", [1])
    for name in (keys.trace("acme", trace_id), keys.trace_index("acme"), keys.trace_bytes("acme")):
        assert 0 < await redis.ttl(name) <= 30


async def test_a_lost_index_costs_nothing_but_the_order(redis: Redis) -> None:
    """As in a Redis that evicts."""
    shelf = RedisTraces(redis, TraceLimits(most_bytes=1_000))
    await put_some(shelf, "acme", [900])
    await redis.delete(keys.trace_index("acme"))
    first, second = await put_some(shelf, "acme", [400, 400])
    assert {first, second} <= await held(shelf, "acme")


async def test_an_outage_of_redis_is_told() -> None:
    async with open_producer("redis://127.0.0.1:1") as nobody:
        with pytest.raises(Unavailable):
            await RedisTraces(nobody).put("acme", uuid4().hex, b"x")


async def test_files_of_an_earlier_process_count_and_expire(tmp_path: Path) -> None:
    now = 1_000.0
    limits = TraceLimits(ttl_s=60, most=3)
    old = await put_some(FolderTraces(tmp_path, limits, lambda: now), "acme", [1, 1])
    for path in list_files(tmp_path):
        os.utime(path, (now, now))
    later = FolderTraces(tmp_path, limits, lambda: now)
    assert await held(later, "acme") == set(old)
    now += 61
    assert await later.get("acme", old[0]) is None
    await later.sweep()
    assert await held(later, "acme") == set()
    assert list_files(tmp_path) == []


async def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        await put_some(FolderTraces(tmp_path / "traces", TraceLimits()), "acme", [1])
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "traces").rglob("*")}
    assert modes == {0o700, 0o600}


async def test_a_folder_that_cannot_be_written_is_an_outage(tmp_path: Path) -> None:
    (tmp_path / "traces").write_text("a file")
    with pytest.raises(Unavailable, match="cannot be kept on disk"):
        await FolderTraces(tmp_path / "traces", TraceLimits()).put("acme", uuid4().hex, b"x")
