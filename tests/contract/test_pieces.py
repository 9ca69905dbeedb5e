"""A long turn on every engine: it is one memory, found by its pieces, and they live and die with it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from redis.asyncio import Redis

from lithify.assembly.library.export import ExportedRecord, Exporter
from lithify.assembly.library.importing import Importer
from lithify.assembly.library.memories import Memories
from lithify.assembly.library.schema import MemoryInput
from lithify.compactor.retention import DAY_MS, PURGE_JOB, RawRetention, purge_compacted
from lithify.embedding import HashEmbedder
from lithify.events import EVERY_TENANT, TenantScope
from lithify.forgetting import Target, memory_target, put_tombstones
from lithify.http import NotFound
from lithify.jobs import JobContext, open_connection
from lithify.memory.gating.gate import GateConfig
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.pieces import cut_pieces
from lithify.operations.status import describe_store
from lithify.store import LEXICAL, TIER_NAMES, Query, Record, SparseVector, VectorStore, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.store.reading import every_record
from tests.compaction_parts import Bench, Watched, say
from tests.integration.rebuild_parts import contents
from tests.unit.embedder.backfill_parts import Died, Pipeline, event, plain
from tests.unit.embedder.faulty_embedder import BAD, FaultyEmbedder
from tests.unit.forgetter.forgetting_parts import World, of_session, of_source, of_user, spoken, world_on
from tests.unit.gatekeeper.gate_parts import Gate, delivered

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

ACME = TenantScope("acme")
VECTORS = (*TIER_NAMES, LEXICAL)
TALK = "We talked about the weather of the coast and about what there was for lunch at the harbour that day. "
FACT = "My sister Clara keeps three llamas in Coimbra."
LONG = TALK * 8 + FACT + " " + TALK * 8
PIECES = len(cut_pieces(LONG))
ONE_REPETITION = 0.2


@pytest.fixture
def pipeline(memories: VectorStore, hash_embedder: HashEmbedder, redis: Redis, redis_url: str) -> Iterator[Pipeline]:
    with ThreadPoolExecutor(1) as executor, open_connection(redis_url) as connection:
        yield Pipeline(memories, FaultyEmbedder(hash_embedder), redis, connection, executor)


@pytest.fixture
def world(
    memories: VectorStore, redis: Redis, redis_url: str, hash_embedder: HashEmbedder, tmp_path: Path
) -> Iterator[World]:
    with world_on(memories, redis, redis_url, hash_embedder, tmp_path) as made:
        yield made


async def read(store: VectorStore, kind: str, **equal: str) -> list[Record]:
    where = Where().equals("kind", kind)
    for name, value in equal.items():
        where = where.equals(name, value)
    found = [record async for record in every_record(store, EVERY_TENANT, COLLECTION, where, VECTORS)]
    return sorted(found, key=lambda record: (record.payload["event_id"], record.payload.get("piece", 0)))


async def test_a_long_turn_is_stored_whole_and_in_pieces(pipeline: Pipeline) -> None:
    await pipeline.take(event("long", LONG, seq=3, source_ref="chat"), event("short", FACT))
    [turn] = await read(pipeline.store, "turn", event_id="long")
    pieces = await read(pipeline.store, "piece")
    assert PIECES > 2
    assert (turn.payload["text"], turn.payload["divided"]) == (LONG, True)
    assert [piece.payload["text"] for piece in pieces] == cut_pieces(LONG)
    assert [piece.payload["piece"] for piece in pieces] == list(range(PIECES))
    shared = ("tenant", "user", "session", "scope", "event_id", "role", "seq", "position", "ts", "source_ref", "active")
    for piece in pieces:
        assert piece.payload["parent"] == turn.id
        assert {name: piece.payload[name] for name in shared} == {name: turn.payload[name] for name in shared}
        assert MemoryRecord.from_payload(piece.payload).embedding == pipeline.embedder.fingerprint
    [short] = await read(pipeline.store, "turn", event_id="short")
    assert "divided" not in short.payload


async def test_its_vectors_are_the_mean_and_its_words_the_best_of_its_pieces(pipeline: Pipeline) -> None:
    await pipeline.take(event("long", LONG))
    [turn] = await read(pipeline.store, "turn")
    pieces = await read(pipeline.store, "piece")
    mean = np.mean([piece.vectors["l3"] for piece in pieces], axis=0)
    assert turn.vectors["l3"] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
    assert turn.vectors["l1"] == pytest.approx(mean[:8] / np.linalg.norm(mean[:8]), abs=1e-5)
    best: dict[int, float] = {}
    for piece in pieces:
        assert piece.lexical is not None
        for index, value in piece.lexical.items:
            best[index] = max(value, best.get(index, 0.0))
    assert turn.lexical is not None
    assert dict(turn.lexical.items) == pytest.approx(best)


async def test_the_piece_with_the_fact_is_the_best_for_its_words(pipeline: Pipeline) -> None:
    await pipeline.take(event("long", LONG))
    indices, values = LexicalAnalyser().query_vector("Clara llamas Coimbra")
    query = Query(Where().equals("kind", "piece"), LEXICAL, SparseVector(tuple(indices), tuple(values)), 1)
    [[hit]] = await pipeline.store.query_batch(ACME, COLLECTION, [query])
    assert FACT in hit.payload["text"]


async def test_a_turn_that_comes_again_leaves_no_pieces_of_its_former_text(pipeline: Pipeline) -> None:
    await pipeline.take(event("e", LONG))
    await pipeline.worker.handle([])
    again = [(await deliver(pipeline, text)) for text in (LONG, TALK * 6, FACT)]
    assert again == [PIECES, len(cut_pieces(TALK * 6)), 0]


async def deliver(pipeline: Pipeline, text: str) -> int:
    """Takes the event with this text, as after its receipt has expired; counts its pieces then."""
    await pipeline.redis.flushdb()
    await pipeline.take(event("e", text))
    return len(await read(pipeline.store, "piece"))


async def test_a_crash_between_the_writes_is_repaired_by_the_next_delivery(pipeline: Pipeline) -> None:
    async def die(name: str, args: object) -> None:
        if name == "upsert":
            raise Died

    await pipeline.take(event("whole", LONG))
    expected = [plain(record) for kind in ("turn", "piece") for record in await read(pipeline.store, kind)]
    turn, *pieces = [r for kind in ("turn", "piece") for r in await read(pipeline.store, kind)]
    await pipeline.store.delete(EVERY_TENANT, COLLECTION, Where().ids([turn.id, pieces[-1].id]))
    dying = replace(pipeline, store=Watched(pipeline.store, die))
    await pipeline.redis.flushdb()
    with pytest.raises(Died):
        await dying.take(event("whole", LONG))
    await pipeline.redis.flushdb()
    await pipeline.take(event("whole", LONG))
    assert [plain(r) for kind in ("turn", "piece") for r in await read(pipeline.store, kind)] == expected


async def test_backfill_makes_the_vectors_of_pieces_and_of_their_turn(pipeline: Pipeline) -> None:
    pipeline.embedder.broken = True
    await pipeline.take(event("long", LONG))
    marked = await pipeline.store.count(ACME, COLLECTION, Where().present("missing_tiers"))
    assert marked == 1 + PIECES
    pipeline.embedder.broken = False
    assert await pipeline.backfill() == {"restored": 0, "embedded": 1 + PIECES, "dropped": 0, "remaining": 0}
    made = [*await read(pipeline.store, "turn"), *await read(pipeline.store, "piece")]
    await pipeline.redis.flushdb()
    await pipeline.store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    await pipeline.take(event("long", LONG))
    fresh = [*await read(pipeline.store, "turn"), *await read(pipeline.store, "piece")]
    assert [plain(record)[1:] for record in made] == [plain(record)[1:] for record in fresh]


async def test_a_piece_that_cannot_be_embedded_costs_the_turn_nothing_else(pipeline: Pipeline) -> None:
    await pipeline.take(event("long", f"{LONG} This is {BAD}."))
    [turn] = await read(pipeline.store, "turn")
    pieces = await read(pipeline.store, "piece")
    assert set(turn.vectors) == set(TIER_NAMES)
    assert [bool(piece.vectors) for piece in pieces] == [True] * (len(pieces) - 1) + [False]
    assert "error" not in await pipeline.receipt("long")


@pytest.mark.parametrize("target", [of_user("u1"), of_session("u1", "s1"), of_source("book"), None])
async def test_pieces_are_forgotten_with_their_turn(world: World, target: Target | None) -> None:
    own = spoken("e1", text=LONG, source_ref="book")
    await world.told(own, spoken("e2", "u10", "s9", text=LONG, source_ref="film"))
    [turn] = await world.records(kind="turn", event_id="e1")
    receipt = await world.forget(target or memory_target("acme", turn))
    assert receipt["verified"] is True
    assert receipt["removed"]["memories"] == 1, "a piece is no memory"
    assert await world.records(event_id="e1") == []
    assert len(await world.records(kind="piece")) == PIECES, "those of others stay"


async def test_pieces_that_are_left_are_counted_as_left(world: World) -> None:
    await world.told(spoken("e1", text=LONG))
    [turn] = await world.records(kind="turn")
    await world.store.delete(EVERY_TENANT, COLLECTION, Where().ids([turn.id]))
    await world.forget(of_session("u1", "s1"))
    assert await world.records() == []


async def test_what_is_forgotten_while_it_is_embedded_leaves_no_piece(world: World) -> None:
    await world.accept(spoken("e1", text=LONG))
    busy = await world.taken("embed")

    async def forget_first(name: str, args: object) -> None:
        if name == "upsert":
            await put_tombstones(world.redis, of_user("u1"), await world.now())

    await world.embedding(Watched(world.store, forget_first)).handle(busy)
    assert await world.records() == []


def talk(turns: int) -> list[str]:
    return [f"Room {n}: " + TALK * 6 + f"The wall of room{n} will be in colour{n}." for n in range(turns)]


async def test_compaction_sees_a_long_turn_once_and_retires_its_pieces(bench: Bench) -> None:
    await bench.tell([say(number, text) for number, text in enumerate(talk(14))])
    result = await bench.run()
    assert result["turns_removed"] == 10
    active = {str(turn) for turn in await bench.active_turns()}
    assert len(active) == 4
    pieces = await bench.memories("piece")
    assert {piece.event_id for piece in pieces if piece.active} == active
    assert all(bool(piece.compacted_into) is not piece.active for piece in pieces)
    assert sorted(await bench.covered()) == sorted({str(p.event_id) for p in pieces if not p.active})


async def test_purged_turns_take_their_pieces_along(bench: Bench) -> None:
    await bench.tell([say(number, text) for number, text in enumerate(talk(14))])
    await bench.run()
    parts = RawRetention(bench.store, 1, lambda: 10**12 + DAY_MS)
    context = JobContext("job", PURGE_JOB, 1, parts, bench.executor, bench.connection)
    assert await purge_compacted(context) == {"purged": 10}
    assert {piece.event_id for piece in await bench.memories("piece")} == set(await bench.active_turns())


async def test_turns_that_come_back_from_a_summary_bring_their_pieces(world: World, bench: Bench) -> None:
    await bench.tell([say(number, text) for number, text in enumerate(talk(14))])
    await bench.run()
    [summary, *_] = await bench.records("summary")
    await world.forget(memory_target("acme", summary))
    for piece in await bench.memories("piece"):
        assert piece.active is (piece.event_id in await bench.active_turns())


async def test_a_long_turn_comes_back_from_an_export_with_its_pieces(
    bench: Bench, hash_embedder: HashEmbedder, redis: Redis
) -> None:
    await bench.tell([say(0, LONG), say(1, FACT)])
    before = await contents(bench.store)
    for vectors in (True, False):
        lines = b"".join([page async for page in Exporter(bench.store).lines(ACME, None, vectors=vectors)])
        records = [ExportedRecord.model_validate_json(line) for line in lines.splitlines()]
        assert [record.kind for record in records] == ["turn", "turn"]
        assert await Exporter(bench.store).count(ACME) == 2
        await bench.store.delete(ACME, COLLECTION, Where())
        importer = Importer(bench.store, hash_embedder, bench.analyser, bench.executor, redis, 2)
        assert await importer.write(ACME, records) == (1 if vectors else 2), "its pieces have to be embedded"
        assert await contents(bench.store) == before


async def test_an_import_leaves_no_pieces_of_a_former_text(
    bench: Bench, hash_embedder: HashEmbedder, redis: Redis
) -> None:
    await bench.tell([say(0, LONG)])
    lines = b"".join([page async for page in Exporter(bench.store).lines(ACME, None, vectors=False)])
    [record] = [ExportedRecord.model_validate_json(line) for line in lines.splitlines()]
    importer = Importer(bench.store, hash_embedder, bench.analyser, bench.executor, redis, 2)
    await importer.write(ACME, [record.model_copy(update={"text": FACT})])
    assert [kind for kind in ("turn", "piece") if await bench.records(kind)] == ["turn"]
    assert await bench.memories("turn", divided=True) == []


async def test_the_gate_neither_counts_nor_copies_pieces(bench: Bench, memories: VectorStore, redis: Redis) -> None:
    gate = Gate(memories, redis, GateConfig(threshold=0.0))
    worker = replace(gate.worker(), family=bench.embedder.manifest.family)
    first, second = say(0, LONG), say(2, cut_pieces(LONG)[0])
    await bench.tell([first, second])
    await worker.handle([delivered(first)])
    await worker.handle([delivered(second)])
    [_, repeating] = await bench.records("turn")
    assert repeating.payload["gating_input_freq"] == pytest.approx(ONE_REPETITION), "a turn counts, its pieces do not"
    [copy] = [memory for memory in await bench.records("memory", VECTORS) if memory.payload["event_id"] == "s1-000"]
    [turn] = [turn for turn in await bench.records("turn", VECTORS) if turn.payload["event_id"] == "s1-000"]
    assert "divided" not in copy.payload
    assert plain(copy)[1:] == plain(turn)[1:]
    assert {piece.payload["parent"] for piece in await bench.records("piece")} == {turn.id}


async def test_a_piece_is_counted_and_shown_nowhere(bench: Bench, hash_embedder: HashEmbedder, redis: Redis) -> None:
    await bench.tell([say(0, LONG)])
    assert (await describe_store(ACME, bench.store))["memories"] == 1
    [piece, *_] = await bench.records("piece")
    library = Memories(bench.store, hash_embedder, bench.analyser, bench.executor, redis, lambda: 1)
    with pytest.raises(NotFound):
        await library.read(ACME, piece.id)


async def test_a_long_memory_of_a_host_is_divided_as_well(
    bench: Bench, hash_embedder: HashEmbedder, redis: Redis, world: World
) -> None:
    library = Memories(bench.store, hash_embedder, bench.analyser, bench.executor, redis, lambda: 1)
    written = await library.write(ACME, MemoryInput(user="ada", text=LONG))
    pieces = await bench.memories("piece")
    assert {(piece.parent, piece.scope) for piece in pieces} == {(written.id, "user")}
    assert len(pieces) == PIECES
    [memory] = await world.records(kind="memory")
    await world.forget(memory_target("acme", memory))
    assert await world.records() == []
