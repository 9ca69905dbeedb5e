"""Back-pressure: above a high-water mark the gateway refuses with 429, accepts nothing by halves, and resumes."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.errors import Overloaded
from lithify.events import system_clock
from lithify.gateway import back_pressure as back_pressure_module
from lithify.gateway.back_pressure import BackPressure, counting_pause_s
from lithify.gateway.routes import Gateway, gateway_router
from lithify.http import create_app
from lithify.http.authorization import Access
from lithify.streams import Limits, Readings, Receipts, connection, keys, open_consumer, read_pressure
from lithify.streams.member import Member
from tests.integration.stream_parts import GROUP, PATIENCE_S, STREAM, accept, producer

REQUIRED = {STREAM: (GROUP,)}
TURN: dict[str, Any] = {"user": "u", "session": "s", "role": "user", "text": "hello"}


def gateway_of(redis: Redis, back_pressure: BackPressure) -> httpx.AsyncClient:
    gateway = Gateway(producer(redis), Receipts(redis), system_clock, wait_limit_ms=0, back_pressure=back_pressure)
    app = create_app("test", [gateway_router(gateway, Access.open())], 2**20)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")


@pytest_asyncio.fixture
async def back_pressure(redis: Redis) -> BackPressure:
    return BackPressure(redis, REQUIRED, Limits(unread=5, retry_after_s=7))


@pytest_asyncio.fixture
async def http(redis: Redis, back_pressure: BackPressure) -> AsyncIterator[httpx.AsyncClient]:
    async with gateway_of(redis, back_pressure) as client:
        yield client


async def read_all(redis: Redis, group: str = GROUP) -> None:
    member = Member(redis, [STREAM], group, f"{group}-0")
    await member.join()
    for entry in await member.read(1_000, block_ms=10):
        await member.acknowledge(STREAM, [entry.stream_id])


async def test_too_many_unread_events_are_refused_and_nothing_of_the_request_is_kept(
    redis: Redis, back_pressure: BackPressure, http: httpx.AsyncClient
) -> None:
    await accept(redis, *(f"e{number}" for number in range(6)))
    await back_pressure.look()

    single = await http.post("/v1/turns", json=TURN | {"event_id": "new"})
    batch = await http.post("/v1/turns:batch", json={"turns": [TURN | {"event_id": "new"}]})

    for refused in (single, batch):
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "7"
        assert refused.headers["content-type"] == "application/problem+json"
        assert "more than 5 events wait" in refused.json()["detail"]
    assert await redis.xlen(STREAM) == 6
    assert await Receipts(redis).read("default", "new") is None


async def test_accepting_resumes_when_the_backlog_is_worked_off(
    redis: Redis, back_pressure: BackPressure, http: httpx.AsyncClient
) -> None:
    await accept(redis, *(f"e{number}" for number in range(6)))
    await back_pressure.look()
    assert (await http.post("/v1/turns", json=TURN | {"event_id": "new"})).status_code == 429

    await read_all(redis)
    await back_pressure.look()

    assert (await http.post("/v1/turns", json=TURN | {"event_id": "new"})).status_code == 202


async def test_reading_goes_on_while_turns_are_refused(
    redis: Redis, back_pressure: BackPressure, http: httpx.AsyncClient
) -> None:
    await accept(redis, *(f"e{number}" for number in range(6)))
    await back_pressure.look()
    assert (await http.get("/v1/receipts/e0")).status_code == 200


async def test_turns_are_refused_within_a_round_of_looking(
    redis: Redis, back_pressure: BackPressure, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(back_pressure_module, "EVERY_S", 0.01)
    looking = asyncio.create_task(back_pressure.run())
    async with asyncio.timeout(PATIENCE_S):
        number = 0
        while (answer := await http.post("/v1/turns", json=TURN | {"event_id": f"e{number}"})).status_code == 202:
            number += 1
    looking.cancel()
    assert answer.status_code == 429
    assert await redis.xlen(STREAM) == number > 5


async def test_a_stall_does_not_make_the_looks_rarer(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look takes an hour by the clock, as it does when everything stands still."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise asyncio.CancelledError

    hours = itertools.count(0, 3_600)
    await accept(redis, *(f"e{number}" for number in range(6)))
    monkeypatch.setattr(back_pressure_module, "asyncio", SimpleNamespace(sleep=pause))
    monkeypatch.setattr(back_pressure_module, "time", SimpleNamespace(monotonic=hours.__next__))
    with pytest.raises(asyncio.CancelledError):
        await BackPressure(redis, REQUIRED, Limits(unread=5)).run()
    assert max(pauses) <= 1


async def test_a_long_backlog_is_not_counted_at_every_look(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    relied_on: list[int | None] = []
    now = 0.0

    async def read(_redis: Redis, _required: object, _limits: Limits, counted: int | None) -> Readings:
        nonlocal now
        relied_on.append(counted)
        now += 0.1
        return Readings(unread=6, is_counted=counted is None)

    monkeypatch.setattr(back_pressure_module, "read_pressure", read)
    monkeypatch.setattr(back_pressure_module, "time", SimpleNamespace(monotonic=lambda: now))
    back_pressure = BackPressure(redis, REQUIRED, Limits(unread=5))
    for pause in (0.0, 0.5, 1.0, 0.1):
        now += pause
        await back_pressure.look()
        with pytest.raises(Overloaded, match="more than 5 events"):
            back_pressure.check()
    # A count that took a tenth of a second is good for a second.
    assert relied_on == [None, 6, None, 6]


async def test_a_count_that_is_relied_on_replaces_counting_only_where_it_would_be_needed(redis: Redis) -> None:
    await accept(redis, *(f"e{number}" for number in range(6)))
    counted = await read_pressure(redis, REQUIRED, Limits(unread=5))
    relied_on = await read_pressure(redis, REQUIRED, Limits(unread=5), 1_000)
    short = await read_pressure(redis, REQUIRED, Limits(unread=6), 1_000)
    assert [(one.unread, one.is_counted) for one in (counted, relied_on, short)] == [
        (6, True),
        (1_000, False),
        (6, False),
    ]


@pytest.mark.parametrize(("took_s", "pause_s"), [(0.001, 0.01), (0.2, 2.0), (3_600.0, 5.0)])
def test_a_count_is_relied_on_for_ten_times_as_long_as_it_took_but_not_for_ever(took_s: float, pause_s: float) -> None:
    assert counting_pause_s(took_s) == pytest.approx(pause_s)


async def test_a_full_redis_is_429_and_the_same_batch_is_accepted_whole_later(
    redis: Redis, back_pressure: BackPressure
) -> None:
    turns = {"turns": [TURN | {"event_id": "a"}, TURN | {"event_id": "b"}]}
    async with gateway_of(redis, back_pressure) as http:
        await accept(redis, "before")
        await redis.config_set("maxmemory", 1)
        try:
            refused = await http.post("/v1/turns:batch", json=turns)
        finally:
            await redis.config_set("maxmemory", 0)
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        assert await redis.xlen(STREAM) == 1
        assert (await http.post("/v1/turns:batch", json=turns)).json()["accepted"] == 2


async def test_in_an_outage_turns_are_let_through_and_accepting_says_what_is_wrong(
    redis: Redis, back_pressure: BackPressure, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await accept(redis, *(f"e{number}" for number in range(6)))
    monkeypatch.setattr(connection, "CONNECT_TIMEOUT_S", 0.1)
    async with open_consumer(f"unix://{tmp_path_factory.mktemp('no')}/redis.sock", block_ms=0) as nobody:
        away = BackPressure(nobody, REQUIRED, Limits())
        await away.look()
        async with gateway_of(nobody, away) as http:
            answer = await http.post("/v1/turns", json=TURN | {"event_id": "new"})
    assert answer.status_code == 503
    assert "retry-after" in answer.headers


async def test_a_group_that_never_ran_has_everything_unread(redis: Redis) -> None:
    await accept(redis, *(f"e{number}" for number in range(6)))
    await read_all(redis)
    limits = Limits(unread=5)
    assert (await read_pressure(redis, {STREAM: (GROUP,)}, limits)).unread == 0
    assert (await read_pressure(redis, {STREAM: (GROUP, "archive")}, limits)).unread == 6


async def test_the_group_furthest_behind_counts_over_all_its_streams(redis: Redis) -> None:
    for partition, count in ((0, 3), (1, 4)):
        for _ in range(count):
            await redis.xadd(keys.turns(partition), {"event": "x"})
    required = {keys.turns(partition): (GROUP, "archive") for partition in range(3)}
    await read_all(redis, "archive")
    assert (await read_pressure(redis, required, Limits(unread=6))).unread == 7


async def test_an_acknowledged_stream_that_is_not_trimmed_yet_is_no_pressure(redis: Redis) -> None:
    await accept(redis, *(f"e{number}" for number in range(50)))
    await read_all(redis)
    await accept(redis, "new")
    assert (await read_pressure(redis, REQUIRED, Limits(unread=5))).unread == 1


async def test_counting_stops_at_the_limit(redis: Redis) -> None:
    await accept(redis, *(f"e{number}" for number in range(3_500)))
    seen = await read_pressure(redis, REQUIRED, Limits(unread=10))
    # One page of a thousand says enough.
    assert 10 < seen.unread <= 1_000


async def test_the_age_is_that_of_the_oldest_unread_event(redis: Redis) -> None:
    now_ms = (await redis.time())[0] * 1000
    for age_s in (90, 60, 30):
        await redis.xadd(STREAM, {"event": "x"}, id=f"{now_ms - age_s * 1000}-0")
    member = Member(redis, [STREAM], GROUP, "embed-0")
    await member.join()
    await member.read(1, block_ms=10)
    seen = await read_pressure(redis, REQUIRED, Limits())
    assert 60_000 <= seen.oldest_unread_ms < 90_000


async def test_memory_is_judged_where_redis_has_a_limit(redis: Redis) -> None:
    assert (await read_pressure(redis, REQUIRED, Limits())).memory_share is None
    await redis.config_set("maxmemory", 2**30)
    try:
        share = (await read_pressure(redis, REQUIRED, Limits())).memory_share
    finally:
        await redis.config_set("maxmemory", 0)
    assert share is not None
    assert 0 < share < 1
