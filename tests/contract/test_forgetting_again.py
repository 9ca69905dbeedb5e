"""Ids used again, letters sent again, pages that were read before: the moment of acceptance decides."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from redis.asyncio import Redis

from lithify.archive import hold_shared_lock, whole_archive
from lithify.embedder.backfill import BackfillParts, Repairs, write_repairs
from lithify.embedding import HashEmbedder
from lithify.errors import Unavailable
from lithify.events import EVERY_TENANT, system_clock
from lithify.forgetting import memory_target
from lithify.store import VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams import DeadLetters, keys
from lithify.traces import RedisTraces
from tests.compaction_parts import Watched
from tests.unit.forgetter.forgetting_parts import PARTITIONS, WORDS, World, of_session, of_user, spoken, world_on

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

LONG = f"{'We walked along the harbour and talked. ' * 80}{WORDS}"


@pytest.fixture
def world(
    memories: VectorStore, redis: Redis, redis_url: str, hash_embedder: HashEmbedder, tmp_path: Path
) -> Iterator[World]:
    with world_on(memories, redis, redis_url, hash_embedder, tmp_path) as made:
        yield made


async def texts(world: World) -> list[str]:
    return [record.payload["text"] for record in await world.records()]


@pytest.mark.parametrize("former", [WORDS, LONG], ids=["short", "long"])
@pytest.mark.parametrize("target", [of_user("u1"), of_session("u1", "s1")], ids=["user", "session"])
async def test_turn_that_is_sent_again_while_a_rebuild_holds_the_forgetting_up_lives(
    world: World, target: Any, former: str
) -> None:
    await world.told(spoken("e1", text=former))
    before = await world.now()
    with whole_archive(world.archive), pytest.raises(Unavailable):
        await world.forget(target, before)
    await world.told(spoken("e1", text="said again"))
    assert (await world.forget(target, before))["verified"] is True
    assert await texts(world) == ["said again"]
    assert world.in_archive() == ["e1"]
    assert await world.says(WORDS) == set()
    assert await world.redis.exists(keys.receipt("acme", "e1"))
    [tail] = [value for name, value in (await world.in_redis()).items() if ":tail:" in name]
    assert b"said again" in tail


async def test_same_words_said_again_live(world: World) -> None:
    await world.told(spoken("e1"))
    before = await world.now()
    with whole_archive(world.archive), pytest.raises(Unavailable):
        await world.forget(of_user("u1"), before)
    await world.told(spoken("e1"))
    await world.forget(of_user("u1"), before)
    assert (await texts(world), world.in_archive()) == ([WORDS], ["e1"])


async def test_memory_whose_turn_is_sent_again_lives(world: World) -> None:
    await world.told(spoken("e1"))
    target = memory_target("acme", (await world.records())[0])
    before = await world.now()
    with whole_archive(world.archive), pytest.raises(Unavailable):
        await world.forget(target, before)
    await world.told(spoken("e1", text="said again"))
    await world.forget(target, before)
    assert (await texts(world), await world.says(WORDS)) == (["said again"], set())


async def test_turn_that_is_stored_again_right_before_its_deletion_stays(world: World) -> None:
    await world.told(spoken("e1"))
    before = await world.now()
    again: list[str] = []

    async def be_quicker(name: str, _args: Sequence[Any]) -> None:
        if name == "delete" and not again:
            again.append(name)
            await world.told(spoken("e1", text="said again"))

    store: Any = Watched(world.store, be_quicker)
    await world.forget(of_user("u1"), before, store=store)
    assert (again, await texts(world)) == (["delete"], ["said again"])


async def test_late_worker_does_not_take_the_turn_that_was_sent_again(world: World) -> None:
    await world.accept(spoken("e1"))
    held = await world.taken("embed")
    await world.member("embed").acknowledge(held[0].entry.stream, [held[0].stream_id])
    await world.forget(of_user("u1"))
    await world.told(spoken("e1", text="said again"))
    await world.embedding().handle(held)
    assert await texts(world) == ["said again"]


async def test_letter_that_is_sent_again_after_the_request_is_forgotten_all_the_same(world: World) -> None:
    await world.accept(spoken("e1"), spoken("e2", user="u2"))
    member = world.member("embed")
    for delivery in await world.taken("embed"):
        await member.bury(delivery.entry, "cannot digest", 1)
    before = await world.now()
    letters = DeadLetters(world.redis, PARTITIONS, system_clock)
    await letters.redrive(EVERY_TENANT, await letters.ids(EVERY_TENANT))
    await world.work()
    await world.forget(of_user("u1"), before)
    assert (await world.stored(), set(world.in_archive())) == ({"e2"}, {"e2"})
    assert not [name for name, value in (await world.in_redis()).items() if b'"e1"' in value]


async def test_letter_of_a_stored_event_keeps_the_moment_it_was_accepted(world: World) -> None:
    await world.told(spoken("e1"))
    before = await world.now()
    member = world.member("gate")
    await member.join()
    for entry in await member.read(100, 10):
        await member.bury(entry, "cannot digest", 1)
    letters = DeadLetters(world.redis, PARTITIONS, system_clock)
    await world.redis.delete(keys.receipt("acme", "e1"))
    await world.told(spoken("e1", text="said again"))
    await letters.redrive(EVERY_TENANT, await letters.ids(EVERY_TENANT))
    await world.forget(of_user("u1"), before)
    assert await world.says(WORDS) == set()


async def test_backfill_that_read_its_page_before_a_forgetting_announces_nothing_of_it(world: World) -> None:
    await world.told(spoken("e1"), spoken("e2", user="u2", text="tea"))
    page = await world.records(kind="turn")
    await world.forget(of_user("u1"))
    await world.redis.delete(*map(keys.stored, range(PARTITIONS)))
    parts = BackfillParts(world.store, world.embedder, world.redis, PARTITIONS, system_clock)
    await write_repairs(parts, Repairs(cleared=[turn.id for turn in page], embedded=page))
    stored = [await world.redis.xlen(keys.stored(partition)) for partition in range(PARTITIONS)]
    assert sum(stored) == 1
    assert (await world.says(WORDS), await world.stored()) == (set(), {"e2"})


async def test_forgetting_waits_for_a_copy_on_another_machine(world: World, tmp_path: Path) -> None:
    """Its lock on a folder of its own would not be seen here."""
    await world.told(spoken("e1"))
    before = await world.now()
    async with hold_shared_lock(world.redis):
        with pytest.raises(Unavailable, match="copying the memories"):
            await world.forget(of_user("u1"), before)
    assert (await world.forget(of_user("u1"), before))["verified"] is True


class AskingShelf(RedisTraces):
    """A host that asks for the user over and over, always as if it were long ago."""

    async def pages(self, tenant: str) -> AsyncIterator[Mapping[str, bytes]]:
        asked = orjson.dumps({"request": {"user": "u1", "now": 5}, "now": 5})
        fresh = f"asked-{await self.redis.dbsize()}-{await self.redis.incr('asked')}"
        await self.redis.set(keys.trace(tenant, fresh), asked, ex=60)
        await self.redis.expire("asked", 60)
        async for page in super().pages(tenant):
            yield page


async def test_host_that_asks_with_an_old_time_cannot_keep_a_forgetting_from_its_end(world: World) -> None:
    await world.told(spoken("e1"))
    await world.trace("t1", "u1")
    receipt = await world.forget(of_user("u1"), traces=AskingShelf(world.redis))
    assert receipt["verified"] is True
    assert not await world.redis.exists(keys.trace("acme", "t1"))


async def test_turn_that_takes_the_id_of_a_compacted_one_is_active(world: World) -> None:
    """The summary that stood for the former one is forgotten with it."""
    await world.told(spoken("e1"))
    where = Where().equals("event_id", "e1")
    await world.store.set_payload(EVERY_TENANT, COLLECTION, where, {"active": False, "compacted_into": "gone"})
    before = await world.now()
    with whole_archive(world.archive), pytest.raises(Unavailable):
        await world.forget(of_user("u1"), before)
    await world.told(spoken("e1", text="said again"))
    await world.forget(of_user("u1"), before)
    [turn] = await world.records()
    assert (turn.payload["text"], turn.payload["active"], turn.payload.get("compacted_into")) == (
        "said again",
        True,
        None,
    )


async def test_record_of_an_older_release_is_judged_by_the_receipt_of_its_event(world: World) -> None:
    await world.told(spoken("e1"))
    before = await world.now()
    await world.told(spoken("e2", text="tea"))
    old = [
        replace(record, payload={k: v for k, v in record.payload.items() if k != "accepted"})
        for record in await world.records()
    ]
    await world.store.upsert(EVERY_TENANT, COLLECTION, old)
    await world.forget(of_user("u1"), before)
    assert await texts(world) == ["tea"]
