"""The janitor trims, dismisses and raises the alarm in rounds, and an outage only delays it."""

import asyncio
from collections.abc import Collection, Mapping

import pytest
import structlog
from redis.asyncio import Redis

from lithify.streams import Janitor, connection, keys, open_consumer, probe
from lithify.streams.member import Member
from tests.integration.stream_parts import (
    CALM,
    GROUP,
    STREAM,
    Ledger,
    accept,
    consumer,
    delivered_to,
    eventually,
    running,
)

REQUIRED: Mapping[str, Collection[str]] = {STREAM: [GROUP], keys.stored(0): ["gate"]}
# More entries than a stream node holds (100), for Redis trims whole nodes.
MANY = 350


async def test_a_round_trims_what_is_done_and_dismisses_who_is_gone(redis: Redis) -> None:
    await accept(redis, *(f"e{number}" for number in range(MANY)))
    member = Member(redis, [STREAM], GROUP, "embed-gone")
    await member.join()
    batch = await member.read(MANY, block_ms=10)
    await member.acknowledge(STREAM, [entry.stream_id for entry in batch])
    janitor = Janitor(redis, REQUIRED, idle_ms=0)

    await janitor.sweep()

    assert janitor.sweepings.trimmed == MANY - await redis.xlen(STREAM) > 0
    assert (janitor.sweepings.dismissed, janitor.sweepings.lost) == (1, 0)
    assert await redis.xinfo_consumers(STREAM, GROUP) == []


async def test_entries_trimmed_by_others_while_pending_raise_the_alarm_once(redis: Redis) -> None:
    stream_ids = await accept(redis, "e1", "e2", "e3")
    await delivered_to(redis, "embed-0", 3)
    await redis.xtrim(STREAM, minid=stream_ids[2], approximate=False)
    janitor = Janitor(redis, REQUIRED)

    with structlog.testing.capture_logs() as logs:
        await janitor.sweep()
        await janitor.sweep()

    assert janitor.sweepings.lost == 2
    alarms = [line for line in logs if line["log_level"] == "error"]
    assert [(line["event"], line["stream_id"]) for line in alarms] == [("entry_lost", i) for i in stream_ids[:2]]


async def test_a_stream_trimmed_to_nothing_raises_the_alarm_too(redis: Redis) -> None:
    await accept(redis, "e1")
    await delivered_to(redis, "embed-0", 1)
    await redis.xtrim(STREAM, maxlen=0, approximate=False)
    janitor = Janitor(redis, REQUIRED)
    await janitor.sweep()
    assert janitor.sweepings.lost == 1


async def test_finished_entries_that_are_gone_are_no_loss(redis: Redis) -> None:
    await accept(redis, "e1", "e2")
    ledger = Ledger()
    async with running(consumer(redis, ledger, CALM)):
        await eventually(lambda: len(ledger.done) == 2)
    await redis.xtrim(STREAM, maxlen=0, approximate=False)
    janitor = Janitor(redis, REQUIRED)
    await janitor.sweep()
    assert janitor.sweepings.lost == 0


async def test_rounds_go_on_through_an_outage(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CONNECT_TIMEOUT_S", 0.1)
    async with open_consumer(f"unix://{tmp_path_factory.mktemp('no')}/redis.sock", block_ms=0) as nobody:
        with structlog.testing.capture_logs() as logs:
            rounds = asyncio.create_task(Janitor(nobody, REQUIRED).run(every_s=0.001))
            await eventually(lambda: len(logs) > 2)
            assert not rounds.done()
            rounds.cancel()
    assert {line["event"] for line in logs} == {"janitor_waits"}


async def test_the_probe_knows_the_server_at_hand(redis: Redis) -> None:
    found = await probe(redis)
    assert found.product in ("redis", "valkey")
    assert found.version >= (6, 2)
    assert found.warnings == ()


async def test_the_probe_warns_about_a_server_that_forgets(redis: Redis) -> None:
    await redis.config_set("maxmemory-policy", "allkeys-lru")
    await redis.config_set("appendfsync", "no")
    try:
        found = await probe(redis)
    finally:
        await redis.config_set("maxmemory-policy", "noeviction")
        await redis.config_set("appendfsync", "everysec")
    assert len(found.warnings) == 2
