"""Forgetting on every engine: what is named is gone from every place, and nothing else is."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from lithify.compaction import SessionKey
from lithify.compactor.session import SessionStates
from lithify.compactor.triggers import note_activity
from lithify.embedding import HashEmbedder
from lithify.errors import Invalid, Unavailable
from lithify.events import TenantScope
from lithify.events.scope import SHARED
from lithify.forgetter import job as forgetter_job
from lithify.forgetter.place import ForgettingRun
from lithify.forgetter.streams import Backlog
from lithify.forgetting import memory_target
from lithify.store import Record, VectorStore, point_id
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.streams import DeadLetters, keys
from lithify.streams.generations import durable_subject, read_generations
from tests.compaction_parts import Bench, Watched, chat
from tests.unit.forgetter.forgetting_parts import (
    PARTITIONS,
    WORDS,
    World,
    of_session,
    of_source,
    of_user,
    spoken,
    world_on,
)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

OTHERS = ("u10", "u1x", "u", "U1")


@pytest.fixture
def world(
    memories: VectorStore, redis: Redis, redis_url: str, hash_embedder: HashEmbedder, tmp_path: Path
) -> Iterator[World]:
    with world_on(memories, redis, redis_url, hash_embedder, tmp_path) as made:
        yield made


def durable_of(world: World, record: Record, **more: Any) -> Record:
    """What the gate makes of a turn."""
    memory = replace(MemoryRecord.from_payload(record.payload), kind="memory", scope="user", position=None, **more)
    event_id = memory.event_id or ""
    return replace(
        record, id=point_id("acme", "memory", event_id, world.embedder.manifest.family), payload=memory.payload()
    )


async def promote(world: World, event_id: str, **more: Any) -> Record:
    [turn] = await world.records(kind="turn", event_id=event_id)
    made = durable_of(world, turn, **more)
    await world.store.upsert(TenantScope("acme"), COLLECTION, [made])
    return made


async def bury(world: World) -> None:
    """The gate gives up everything that is stored."""
    member = world.member("gate")
    await member.join()
    for entry in await member.read(100, 10):
        await member.bury(entry, f"cannot digest: {WORDS}", 1)


async def test_forgotten_user_is_gone_from_every_place_and_others_are_untouched(world: World) -> None:
    """spec 01.4"""
    others = [spoken(f"{user}-e", user) for user in OTHERS]
    await world.told(spoken("e1"), spoken("e2", session="s2"), spoken("tool", role="tool"), *others)
    await promote(world, "e1")
    await bury(world)
    await world.trace("t1", "u1")
    await world.trace("t10", "u10")
    await world.trace("all", None)
    await world.redis.hset(keys.use_counts("acme", "u1"), "some-id", "1")
    await note_activity(world.redis, PARTITIONS, [SessionKey("acme", user, "s1") for user in ("u1", "u10")], 1)
    await SessionStates(world.redis, PARTITIONS).add_tokens({SessionKey("acme", "u1", "s9"): 5})
    untouched = {user: await world.payloads(user=user) for user in OTHERS}

    receipt = await world.forget(of_user("u1"))

    assert receipt["verified"] is True
    removed = {"tails": 3, "streams": 5, "archive": 3, "memories": 3, "dead_letters": 2, "traces": 2}
    assert receipt["removed"] == removed
    assert await world.records(user="u1") == []
    assert {user: await world.payloads(user=user) for user in OTHERS} == untouched
    assert world.in_archive() == sorted(event.event_id for event in others)
    assert b"u10" in (silent := b"".join([*(await world.in_redis()).values()]))
    assert b'"u1"' not in silent
    assert not {name for name in await world.in_redis() if ":u1:" in name or name.endswith((":u1", ":e1", ":t1"))}
    assert await DeadLetters(world.redis, PARTITIONS, lambda: 0).ids(TenantScope("acme", "u1")) == []
    assert len(await DeadLetters(world.redis, PARTITIONS, lambda: 0).ids(TenantScope("acme"))) == len(others)
    kept = {keys.receipt("acme", event.event_id) for event in others} | {keys.trace("acme", "t10")}
    assert kept <= set(await world.in_redis())
    assert await read_generations(world.redis, "acme", [durable_subject("u1")]) > (0,)


async def test_user_of_the_same_name_in_another_tenant_is_untouched(world: World) -> None:
    await world.told(spoken("e1"), spoken("e1", tenant="rival"))
    before = await world.payloads(tenant="rival")
    await world.forget(of_user("u1"))
    assert await world.payloads() == before
    assert world.in_archive() == ["e1"]
    assert set(await world.says(WORDS)) & {keys.receipt("acme", "e1")} == set()
    assert any(":rival:u1:" in name for name in await world.says(WORDS))


async def test_forgotten_session_leaves_the_users_other_sessions(world: World) -> None:
    await world.told(spoken("e1"), spoken("e2", session="s10", text="tea"), spoken("e3", user="u2", text="rum"))
    await promote(world, "e1")
    kept = await promote(world, "e2", mentions=("e1", "e3"))
    await world.forget(of_session("u1", "s1"))
    assert await world.stored() == {"e2", "e3"}
    assert (await world.payloads(kind="memory"))[kept.id]["mentions"] == ["e3"]
    assert world.in_archive() == ["e2", "e3"]
    assert await world.says(WORDS) == set()


async def test_everything_from_one_source_goes_whoever_said_it(world: World) -> None:
    await world.told(
        spoken("e1", source_ref="mail/7"),
        spoken("e2", user="u2", source_ref="mail/7"),
        spoken("e3", source_ref="mail/77", text="tea"),
    )
    await promote(world, "e1")
    rule = MemoryRecord("acme", SHARED, "authored", "global", "Be brief.", 1, source_ref="mail/7")
    await world.store.upsert(TenantScope("acme"), COLLECTION, [Record(point_id("acme", "a", "b", "c"), rule.payload())])
    await world.forget(of_source("mail/7"))
    assert {record.payload["kind"] for record in await world.records()} == {"turn", "authored"}
    assert (await world.stored(), world.in_archive(), await world.says(WORDS)) == ({"e3"}, ["e3"], set())


async def test_source_of_one_user_stays_with_the_others(world: World) -> None:
    await world.told(spoken("e1", source_ref="mail/7"), spoken("e2", user="u2", source_ref="mail/7"))
    await world.forget(of_source("mail/7", "u2"))
    assert (await world.stored(), world.in_archive()) == ({"e1"}, ["e1"])


async def test_forgotten_memory_takes_along_every_turn_that_said_it(world: World) -> None:
    await world.told(spoken("e1"), spoken("e2", session="s2"), spoken("e3", text="tea"))
    memory = await promote(world, "e1", mentions=("e2",))
    await world.forget(memory_target("acme", memory))
    assert [record.payload["event_id"] for record in await world.records()] == ["e3"]
    assert (world.in_archive(), await world.says(WORDS)) == (["e3"], set())


async def test_summary_of_a_forgotten_turn_goes_and_its_other_turns_are_active_again(
    bench: Bench, world: World
) -> None:
    await bench.tell(chat(14))
    await bench.run()
    [turn] = await bench.records("turn", event_id="s1-003")
    assert len(await bench.active_turns()) == 4
    await world.forget(memory_target("acme", turn))
    assert await bench.records("summary") == []
    assert await bench.active_turns() == [f"s1-{number:03}" for number in range(14) if number != 3]
    assert (await bench.run())["turns_removed"] == 9


async def test_forgotten_summary_gives_its_turns_back(bench: Bench, world: World) -> None:
    await bench.tell(chat(14))
    await bench.run()
    [summary] = await bench.records("summary")
    await world.forget(memory_target("acme", summary))
    assert await bench.records("summary") == []
    assert len(await bench.active_turns()) == 14


async def test_forgotten_session_takes_its_summaries_along(bench: Bench, world: World) -> None:
    await bench.tell(chat(14))
    await bench.run()
    await world.forget(of_session("ada", "s1"))
    assert await world.records() == []
    assert not [name for name in await world.in_redis() if ":state:" in name]


async def test_what_is_accepted_after_the_request_lives_on_in_every_place(world: World) -> None:
    await world.told(spoken("e1"))
    before = await world.now()
    await world.told(spoken("e2", text="tea"))
    await world.accept(spoken("e3", text="rum"))
    await world.forget(of_user("u1"), before)
    assert (await world.stored(), world.in_archive(), await world.says(WORDS)) == ({"e2"}, ["e2"], set())
    [tail] = [value for name, value in (await world.in_redis()).items() if ":tail:" in name]
    assert [b"tea" in tail, b"rum" in tail] == [True, True]
    await world.work()
    assert (await world.stored(), world.in_archive()) == ({"e2", "e3"}, ["e2", "e3"])
    assert await world.redis.exists(keys.receipt("acme", "e3")) == 1
    await world.told(spoken("e4"))
    positions = sorted(record.payload["seq"] for record in await world.records())
    assert positions == [2, 3, 4], "the count of positions goes on while the session lives"


async def test_backlog_that_no_worker_has_read_never_becomes_memory(world: World) -> None:
    await world.accept(spoken("e1"), spoken("e2", user="u2"))
    await world.forget(of_user("u1"))
    await world.work()
    assert (await world.stored(), world.in_archive()) == ({"e2"}, ["e2"])


async def test_event_in_a_workers_hands_is_waited_for(world: World) -> None:
    await world.accept(spoken("e1"))
    [delivery] = await world.taken("embed")
    impatient = Backlog(world.redis, PARTITIONS, patience_s=0.05)
    run = ForgettingRun(of_user("u1"), await world.now(), world.redis)
    with pytest.raises(Unavailable, match="still holds 1 entries"):
        await impatient.clear(run)
    forgetting = asyncio.create_task(Backlog(world.redis, PARTITIONS).clear(run))
    await world.member("embed").acknowledge(delivery.entry.stream, [delivery.stream_id])
    assert await forgetting == 1
    assert await impatient.count_left(run) == 0


async def test_worker_that_had_slept_through_a_forgetting_stores_nothing(world: World) -> None:
    await world.accept(spoken("e1"))
    held = await world.taken("embed")
    await world.member("embed").acknowledge(held[0].entry.stream, [held[0].stream_id])
    await world.forget(of_user("u1"))
    await world.embedding().handle(held)
    assert await world.records() == []


async def test_what_is_forgotten_during_its_write_is_taken_back(world: World) -> None:
    """The write of a process that slept between its check and its write."""
    await world.accept(spoken("e1"), spoken("e2", user="u2"))
    held = await world.taken("embed")
    for delivery in held:
        await world.member("embed").acknowledge(delivery.entry.stream, [delivery.stream_id])

    async def forgetting_comes_first(name: str, _args: Sequence[Any]) -> None:
        if name == "upsert":
            await world.forget(of_user("u1"))

    sleepy: Any = Watched(world.store, forgetting_comes_first)
    await world.embedding(sleepy).handle(held)
    assert await world.stored() == {"e2"}


PLACES = ("marked", "tails", "streams", "archive", "dead_letters", "memories", "traces")


@pytest.mark.parametrize("point", PLACES)
async def test_forgetting_that_died_anywhere_is_finished_by_its_next_attempt(
    world: World, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Died(Exception):
        """Stands for the end of the process."""

    def die(name: str) -> None:
        if name == f"forget_{point}":
            raise Died

    await world.told(spoken("e1"), spoken("e2", user="u2"))
    before = await world.now()
    monkeypatch.setattr(forgetter_job, "crash_point", die)
    with pytest.raises(Died):
        await world.forget(of_user("u1"), before)
    monkeypatch.undo()
    receipt = await world.forget(of_user("u1"), before)
    assert receipt["removed"] | {"streams": 0} == {
        "tails": 1,
        "streams": 0,
        "archive": 1,
        "memories": 1,
        "dead_letters": 0,
        "traces": 0,
    }
    assert (await world.stored(), world.in_archive()) == ({"e2"}, ["e2"])


async def test_forgetting_twice_removes_nothing_more(world: World) -> None:
    await world.told(spoken("e1"))
    await world.forget(of_user("u1"))
    world.connection.flushall()
    assert set((await world.forget(of_user("u1")))["removed"].values()) == {0}


async def test_request_from_yesterday_is_refused_since_it_cannot_tell_what_came_later(world: World) -> None:
    await world.told(spoken("e1"))
    with pytest.raises(Invalid, match="13 hours ago"):
        await world.forget(of_user("u1"), await world.now() - 13 * 3_600_000 - 60_000)
    assert await world.stored() == {"e1"}


async def test_receipt_is_refused_while_something_is_left(world: World) -> None:
    await world.told(spoken("e1"))

    async def brought_back(name: str, args: Sequence[Any]) -> None:
        """A rebuild that ignores its lock."""
        if name == "count" or (name == "collections" and not await world.stored()):
            await world.store.upsert(TenantScope("acme"), COLLECTION, turn)

    turn = await world.records()
    with pytest.raises(Unavailable, match=r"brings back.*memories"):
        await world.forget(of_user("u1"), store=Watched(world.store, brought_back))
