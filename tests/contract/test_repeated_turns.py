"""A turn that comes again changes what its event says, and undoes nothing that was made of it; on every engine."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, cast

import pytest
from redis.asyncio import Redis

from lithify.embedding import HashEmbedder
from lithify.errors import Unavailable
from lithify.events import EVERY_TENANT, Event, TenantScope
from lithify.forgetting import Target, TargetKind, put_tombstones
from lithify.jobs import open_connection
from lithify.memory.gating.gate import GateConfig
from lithify.memory.pieces import cut_pieces
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.store.reading import every_record
from lithify.streams import Delivery, Producer, keys
from lithify.streams.delivery import StreamEntry, decode
from lithify.streams.tail import read_tail
from tests.compaction_parts import Watched
from tests.unit.embedder.backfill_parts import NOW_MS, Pipeline, event, plain
from tests.unit.embedder.faulty_embedder import FaultyEmbedder
from tests.unit.gatekeeper.gate_parts import Gate, delivered, memory_id, said

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

TALK = "We talked about the weather of the coast and about what there was for lunch at the harbour that day. "
LONG = TALK * 8 + "My sister Clara keeps three llamas in Coimbra. " + TALK * 8
ADA = TenantScope("acme", "ada")
# What compaction, the gate and a later turn write to a stored one.
MADE = {
    "active": False,
    "compacted_into": "summary-1",
    "gating_score": 0.625,
    "memory_id": "memory-1",
    "superseded_by": "turn-2",
    "superseded_by_turn": "e2",
}


@pytest.fixture
def pipeline(memories: VectorStore, hash_embedder: HashEmbedder, redis: Redis, redis_url: str) -> Iterator[Pipeline]:
    with ThreadPoolExecutor(1) as executor, open_connection(redis_url) as connection:
        yield Pipeline(memories, FaultyEmbedder(hash_embedder), redis, connection, executor)


async def accept(pipeline: Pipeline, *events: Event, later_ms: int = 0) -> list[Delivery]:
    """Accepts events and returns them as a worker gets them; those of a session count on from the last position."""
    await Producer(pipeline.redis, 1, lambda: NOW_MS + later_ms).accept([(one, one.text) for one in events])
    entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", await pipeline.redis.xrange(keys.turns(0)))
    return [decode(StreamEntry(keys.turns(0), name.decode(), fields, 1)) for name, fields in entries[-len(events) :]]


async def lose_receipts(pipeline: Pipeline) -> None:
    """Stands for the seven days after which an event counts as new."""
    async for name in pipeline.redis.scan_iter("lithify:receipt:*"):
        await pipeline.redis.delete(name)


async def make_something_of_it(store: VectorStore) -> None:
    visible = {name: MADE[name] for name in ("active", "compacted_into")}
    await store.set_payload(EVERY_TENANT, COLLECTION, Where().equals("kind", "piece"), visible)
    await store.set_payload(EVERY_TENANT, COLLECTION, Where().equals("kind", "turn"), MADE)


async def stored(store: VectorStore) -> list[Any]:
    """All records with their vectors, comparable; when they were accepted last is the streams' own."""
    found = every_record(store, EVERY_TENANT, COLLECTION, Where(), ("l1", "l2", "l3", "lexical"))
    return [(record.id, *plain(without_acceptance(record))) async for record in found]


def without_acceptance(record: Record) -> Record:
    return replace(record, payload={name: value for name, value in record.payload.items() if name != "accepted"})


async def turns(store: VectorStore, kind: str = "turn") -> list[Record]:
    found = every_record(store, EVERY_TENANT, COLLECTION, Where().equals("kind", kind))
    return sorted([record async for record in found], key=lambda record: record.payload.get("piece", 0))


@pytest.mark.parametrize("text", ["I keep three llamas.", LONG], ids=["short", "long"])
async def test_a_turn_accepted_anew_stays_as_it_is(pipeline: Pipeline, text: str) -> None:
    await pipeline.worker.handle(await accept(pipeline, event("e1", text), event("e0", "Hello.")))
    await make_something_of_it(pipeline.store)
    before = await stored(pipeline.store)
    await lose_receipts(pipeline)
    again = await accept(pipeline, replace(event("e1", text), ts=777_777), later_ms=10**9)
    assert again[0].event.seq == 3
    await pipeline.worker.handle(again)
    assert await stored(pipeline.store) == before
    accepted = {
        record.payload["accepted"] for kind in ("turn", "piece") for record in await turns(pipeline.store, kind)
    }
    assert again[0].event.accepted in accepted
    assert (await pipeline.receipt("e1"))["embedded_at"] == str(NOW_MS)


@pytest.mark.parametrize("former", ["I keep three llamas.", LONG], ids=["short", "long"])
async def test_a_turn_with_another_text_keeps_its_place_and_its_state(pipeline: Pipeline, former: str) -> None:
    await pipeline.worker.handle(await accept(pipeline, event("e1", former, meta={"mood": "good"})))
    await make_something_of_it(pipeline.store)
    await lose_receipts(pipeline)
    await pipeline.worker.handle(await accept(pipeline, replace(event("e1", TALK * 6), ts=777_777)))
    [turn] = await turns(pipeline.store)
    assert {name: turn.payload[name] for name in MADE} == MADE
    assert (turn.payload["seq"], turn.payload["ts"]) == (1, 1_000)
    assert turn.payload["text"] == TALK * 6
    assert "meta" not in turn.payload, "the event that says so has none any more"
    pieces = await turns(pipeline.store, "piece")
    assert [piece.payload["text"] for piece in pieces] == cut_pieces(TALK * 6)
    for piece in pieces:
        of_turn = {name: turn.payload[name] for name in ("active", "compacted_into", "seq", "position", "ts")}
        assert {name: piece.payload[name] for name in of_turn} == of_turn


async def test_a_turn_with_another_text_is_found_by_it(pipeline: Pipeline) -> None:
    await pipeline.worker.handle(await accept(pipeline, event("e1", "I keep three llamas.")))
    await lose_receipts(pipeline)
    await pipeline.worker.handle(await accept(pipeline, event("e1", "My boat is called Petrel.")))
    changed = await stored(pipeline.store)
    await pipeline.store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    await lose_receipts(pipeline)
    await pipeline.worker.handle(
        [replace_seq(one, 1) for one in await accept(pipeline, event("e1", "My boat is called Petrel."))]
    )
    assert await stored(pipeline.store) == changed


def replace_seq(delivery: Delivery, seq: int) -> Delivery:
    return delivery._replace(event=replace(delivery.event, seq=seq))


@pytest.mark.parametrize("text", ["I keep three llamas.", LONG], ids=["short", "long"])
async def test_a_worker_that_slept_undoes_nothing(pipeline: Pipeline, text: str) -> None:
    deliveries = await accept(pipeline, event("e1", text))
    seen: list[Any] = []

    async def sleep(name: str, args: object) -> None:
        """Lets another worker take the event over, right before the first write, and others make something of it."""
        if name == "upsert" and not seen:
            await pipeline.worker.handle(deliveries)
            await make_something_of_it(pipeline.store)
            seen.extend(await stored(pipeline.store))

    await replace(pipeline, store=Watched(pipeline.store, sleep)).worker.handle(deliveries)
    assert seen
    assert await stored(pipeline.store) == seen


@pytest.mark.parametrize("text", ["My boat is called Petrel.", LONG], ids=["short", "long"])
async def test_what_is_made_of_a_turn_while_it_is_written_stays(pipeline: Pipeline, text: str) -> None:
    await pipeline.worker.handle(await accept(pipeline, event("e1", TALK * 6)))
    await lose_receipts(pipeline)
    writes: list[str] = []

    async def compact(name: str, args: Any) -> None:
        if name == "upsert" and args[2][-1].payload["kind"] == "turn":
            writes.append(name)
            if len(writes) == 1:
                await make_something_of_it(pipeline.store)

    changing = replace(pipeline, store=Watched(pipeline.store, compact))
    await changing.worker.handle(await accept(pipeline, event("e1", text)))
    [turn] = await turns(pipeline.store)
    assert {name: turn.payload[name] for name in MADE} == MADE
    assert turn.payload["text"] == text
    pieces = await turns(pipeline.store, "piece")
    assert [piece.payload["text"] for piece in pieces] == (cut_pieces(text) if text == LONG else [])
    assert not any(piece.payload["active"] for piece in pieces)
    assert len(writes) == 2


async def test_a_turn_that_never_rests_is_an_outage(pipeline: Pipeline) -> None:
    await pipeline.worker.handle(await accept(pipeline, event("e1", "Hello there.")))
    await lose_receipts(pipeline)
    scores = iter(range(1, 99))

    async def change(name: str, args: object) -> None:
        if name == "upsert":
            gated = {"gating_score": next(scores) / 100}
            await pipeline.store.set_payload(EVERY_TENANT, COLLECTION, Where().equals("kind", "turn"), gated)

    with pytest.raises(Unavailable, match="changed by others"):
        await replace(pipeline, store=Watched(pipeline.store, change)).worker.handle(
            await accept(pipeline, event("e1", "Good bye."))
        )


async def test_turns_without_vectors_get_them_when_they_come_again(pipeline: Pipeline) -> None:
    pipeline.embedder.broken = True
    deliveries = await accept(pipeline, event("e1", "I keep three llamas."))
    await pipeline.worker.handle(deliveries)
    await make_something_of_it(pipeline.store)
    pipeline.embedder.broken = False
    await pipeline.worker.handle(deliveries)
    [record] = [record async for record in every_record(pipeline.store, EVERY_TENANT, COLLECTION, Where(), ("l3",))]
    assert set(record.vectors) == {"l3"}
    assert "missing_tiers" not in record.payload
    assert {name: record.payload[name] for name in MADE} == MADE


async def test_turns_said_long_ago_are_not_the_newest_of_their_session(pipeline: Pipeline) -> None:
    old = [event(f"old{n}", f"Long ago I said {n}.") for n in range(6)]
    await pipeline.worker.handle(await accept(pipeline, *old))
    new = [event(f"new{n}", f"Just now I said {n}.") for n in range(3)]
    await pipeline.worker.handle(await accept(pipeline, *new))
    await lose_receipts(pipeline)
    await pipeline.worker.handle(await accept(pipeline, *old))
    tail = await read_tail(pipeline.redis, ADA, "s1", limit=64, partitions=1)
    assert [turn.event_id for turn in tail] == [*(f"old{n}" for n in range(6)), *(f"new{n}" for n in range(3))]
    assert [turn.seq for turn in tail] == list(range(1, 10))


async def test_a_repeated_delivery_leaves_its_turn_in_the_tail(pipeline: Pipeline) -> None:
    deliveries = await accept(pipeline, event("e1", "Hello there."))
    await pipeline.worker.handle(deliveries)
    await pipeline.worker.handle(deliveries)
    assert len(await read_tail(pipeline.redis, ADA, "s1", limit=64, partitions=1)) == 1


async def test_an_id_used_in_another_session_is_another_turn(pipeline: Pipeline) -> None:
    await pipeline.worker.handle(await accept(pipeline, event("e1", "I keep three llamas.")))
    await make_something_of_it(pipeline.store)
    await lose_receipts(pipeline)
    await pipeline.worker.handle(await accept(pipeline, replace(event("e1", "Hello."), user="bob", session="s7")))
    [turn] = await turns(pipeline.store)
    assert (turn.payload["user"], turn.payload["session"], turn.payload["active"]) == ("bob", "s7", True)
    assert "compacted_into" not in turn.payload
    assert "memory_id" not in turn.payload


async def test_a_gate_that_slept_leaves_the_memory_as_it_is(memories: VectorStore, redis: Redis) -> None:
    gate = Gate(memories, redis, GateConfig(threshold=0.0))
    turn = said("e1")
    await gate.store_turns(turn)
    made: list[Any] = []

    async def sleep(name: str, args: Any) -> None:
        if name == "upsert" and not made:
            await gate.worker().handle([delivered(turn)])
            await memories.set_payload(
                EVERY_TENANT, COLLECTION, Where().ids([memory_id(turn)]), {"mentions": ["e7"], "superseded_by": "x"}
            )
            made.extend(await memories.fetch(EVERY_TENANT, COLLECTION, [memory_id(turn)]))

    await replace(gate, store=Watched(memories, sleep)).worker().handle([delivered(turn)])
    assert made[0].payload["mentions"] == ["e7"]
    assert await memories.fetch(EVERY_TENANT, COLLECTION, [memory_id(turn)]) == made


async def test_a_second_life_has_a_place_of_its_own(pipeline: Pipeline) -> None:
    first = await accept(pipeline, event("e1", "I keep three llamas."), event("e2", "Hello."))
    await pipeline.worker.handle(first)
    # The forgetting of the user has begun and has not reached the store: its process was killed.
    before = int(first[-1].stream_id.partition("-")[0])
    await asyncio.sleep(0.01)
    await put_tombstones(pipeline.redis, Target("acme", TargetKind.USER, "ada"), before)
    await lose_receipts(pipeline)
    [again] = await accept(pipeline, event("e1", "I keep three llamas."))
    await pipeline.worker.handle([again])
    [turn] = [one for one in await turns(pipeline.store) if one.payload["event_id"] == "e1"]
    assert turn.payload["seq"] == again.event.seq
    scope = TenantScope("acme", "ada")
    assert again.event.seq in [
        said.seq for said in await read_tail(pipeline.redis, scope, again.event.session, limit=9, partitions=1)
    ]
