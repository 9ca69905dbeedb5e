"""Work that was under way when something was forgotten: it may not bring anything back."""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis

from lithify.compaction import JOB, Cause, SessionKey, request_compaction
from lithify.errors import Unavailable
from lithify.forgetter.job import RunningCompactions
from lithify.forgetter.place import ForgettingRun
from lithify.forgetting import Target, TargetKind, are_forgotten, put_tombstones, read_present_moment
from lithify.jobs import JobContext
from lithify.store import VectorStore
from lithify.streams import keys
from tests.compaction_parts import Watched
from tests.integration import jobs_parts
from tests.integration.stream_parts import producer
from tests.unit.gatekeeper.gate_parts import Gate, said

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

ADA = Target("acme", TargetKind.USER, "ada")


@pytest.fixture
def gate(memories: VectorStore, redis: Redis) -> Gate:
    return Gate(memories, redis)


async def test_memory_that_is_promoted_during_a_forgetting_is_taken_back(gate: Gate) -> None:
    async def forgotten_meanwhile(name: str, _args: Sequence[Any]) -> None:
        if name == "upsert":
            await put_tombstones(gate.redis, ADA, await read_present_moment(gate.redis, 1))

    await gate.store_turns(said("e1"))
    sleepy: Any = Watched(gate.store, forgotten_meanwhile)
    await replace(gate, store=sleepy).gate(said("e1"))
    assert await gate.memories() == {}


async def test_tombstone_of_an_earlier_forgetting_does_not_replace_a_later_one(redis: Redis) -> None:
    await producer(redis).accept([(said("e1"), "digest")])
    now = await read_present_moment(redis, 1)
    await put_tombstones(redis, ADA, now)
    await put_tombstones(redis, ADA, now - 60_000)
    assert await are_forgotten(redis, [said("e1"), said("e2", user="bob")]) == [True, False]


async def test_tombstone_does_not_touch_what_was_accepted_after_it(redis: Redis) -> None:
    await put_tombstones(redis, ADA, await read_present_moment(redis, 1) - 1)
    await producer(redis).accept([(said("e1"), "digest")])
    assert await are_forgotten(redis, [said("e1"), said("e0")]) == [False, True]


async def test_moment_of_a_request_is_not_before_the_last_accepted_event(redis: Redis) -> None:
    """After Redis's clock was set back, the ids of its streams run ahead of it."""
    ahead = (await read_present_moment(redis, 1)) + 60_000
    await redis.xadd(keys.turns(0), {"event": "x"}, id=f"{ahead}-0")
    assert await read_present_moment(redis, 1) == ahead


@pytest.fixture
def connection(redis_url: str) -> Iterator[Any]:
    with jobs_parts.opened(redis_url) as made:
        yield made


async def test_running_compaction_of_the_user_is_waited_for(redis: Redis, connection: Any) -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    async def compact_slowly(_context: JobContext[None], **_args: object) -> None:
        begun.set()
        await release.wait()

    with ThreadPoolExecutor(1) as executor:
        runner = jobs_parts.runner(connection, {JOB: compact_slowly}, executor=executor)
        async with jobs_parts.running(runner):
            await request_compaction(connection, SessionKey("acme", "ada", "s"), Cause.REQUEST)
            await begun.wait()
            impatient = RunningCompactions(connection, patience_s=0.05)
            with pytest.raises(Unavailable, match="still running"):
                await impatient.wait_until_done(ForgettingRun(ADA, 1, redis))
            with pytest.raises(Unavailable):
                await impatient.wait_until_done(
                    ForgettingRun(Target("acme", TargetKind.SOURCE, None, "mail/1"), 1, redis)
                )
            await impatient.wait_until_done(ForgettingRun(Target("acme", TargetKind.USER, "bob"), 1, redis))
            await impatient.wait_until_done(ForgettingRun(Target("rival", TargetKind.USER, "ada"), 1, redis))
            release.set()
            await RunningCompactions(connection).wait_until_done(ForgettingRun(ADA, 1, redis))
