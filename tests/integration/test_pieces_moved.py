"""Long turns under another model and from the archive: they are divided there, whatever they were before."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from qdrant_client import AsyncQdrantClient

from lithify.embedder.records import make_records
from lithify.events import EVERY_TENANT, Event
from lithify.indexing import embed_tiers, lexical_vector
from lithify.store import EdgeStore, Record, ServerStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.store.pieces import is_piece
from tests.integration.rebuild_parts import System, emptied, hash_model
from tests.integration.reembed_parts import ANALYSER, Move, NamedEmbedder, moving, turn_points, turns
from tests.unit.embedder.backfill_parts import plain

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

TALK = "We talked about the weather of the coast and about what there was for lunch at the harbour that day. "


def long_turns(count: int, start: int = 500) -> list[Event]:
    return [
        Event(f"e{n}", "acme", "u0", "s7", "user", f"Number {n}. {TALK * (n % 4 + 5)}", ts=1_000 + n, seq=n)
        for n in range(start, start + count)
    ]


LONG = long_turns(12)


def undivided(records: list[Record], embedder: NamedEmbedder) -> list[Record]:
    """As an earlier release wrote them: one record with the vectors of the whole text."""
    wholes = [record for record in records if not is_piece(record)]
    texts = [record.payload["text"] for record in wholes]
    return [
        Record(
            record.id,
            {name: value for name, value in record.payload.items() if name != "divided"},
            vectors,
            lexical_vector(text, ANALYSER, record.payload["ts"]),
        )
        for record, text, vectors in zip(wholes, texts, embed_tiers(texts, embedder), strict=True)
    ]


@pytest_asyncio.fixture(params=["local", "edge", pytest.param("server", marks=pytest.mark.server)])
async def move(request: pytest.FixtureRequest) -> AsyncIterator[Move]:
    if request.param == "edge":
        store: Any = request.getfixturevalue("edge_store")
    elif request.param == "server":
        store = ServerStore(request.getfixturevalue("server_url"))
    else:
        store = ServerStore("http://local", client=AsyncQdrantClient(":memory:"))
    async with moving(store, NamedEmbedder("new", 24, (4, 12, 24))) as move:
        yield move
    if request.param != "edge":
        await store.close()


def expected(move: Move) -> dict[str, Any]:
    return move.made_by(move.new, [*move.events, *LONG])


@pytest.mark.parametrize("divided", [True, False])
async def test_reembedding_divides_long_turns_however_they_were_stored(move: Move, divided: bool) -> None:
    records = turn_points(LONG, move.old)
    await move.put(records if divided else undivided(records, move.old))
    before = await move.store.count(EVERY_TENANT, COLLECTION, Where().differs("kind", "piece"))
    report = await move.reembed().run()
    assert await move.contents() == expected(move)
    assert report.records == before, "a piece is no memory"
    assert report.failed == 0
    await move.reembed().run()
    assert await move.contents() == expected(move), "moving twice is moving once"


async def test_a_killed_reembedding_embeds_no_piece_twice(move: Move, monkeypatch: pytest.MonkeyPatch) -> None:
    await move.put(turn_points(LONG, move.old))
    await move.die_at("reembed_batch", monkeypatch)
    await move.die_at("reembed_before_switch", monkeypatch)
    await move.reembed().run()
    embedded = sorted(text for text in move.new.texts if "weather" in text)
    assert embedded == sorted(r.payload["text"] for r in turn_points(LONG, move.old) if is_piece(r))
    assert await move.contents() == expected(move)


async def test_a_compacted_turn_of_an_undivided_store_has_compacted_pieces(move: Move) -> None:
    records = undivided(turn_points(LONG, move.old), move.old)
    retired = [replace(r, payload={**r.payload, "active": False, "compacted_into": r.id}) for r in records]
    await move.put(retired)
    await move.reembed().run()
    page = await move.store.scroll(EVERY_TENANT, COLLECTION, Where().equals("kind", "piece"), limit=1000)
    assert page.records
    assert all(not piece.payload["active"] and piece.payload["compacted_into"] for piece in page.records)


async def test_what_a_service_wrote_with_the_former_model_is_divided_anew(move: Move) -> None:
    await move.reembed().run()
    stray = turn_points(LONG, replace_space(move.old, move.new))
    former = [replace(r, payload={**r.payload, "embedding": move.old.fingerprint}) for r in stray]
    await move.put(former)
    await move.reembed()._mend(move.old.fingerprint)
    assert await move.contents() == expected(move)


def replace_space(old: NamedEmbedder, new: NamedEmbedder) -> NamedEmbedder:
    """A model of the old family whose vectors fit the new collection."""
    return NamedEmbedder(old.manifest.family, new.manifest.dimensions, new.manifest.tiers or ())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeStore]:
    store = EdgeStore(tmp_path_factory.mktemp("vectors"))
    yield store
    asyncio.run(store.close())


@pytest_asyncio.fixture
async def system(store: EdgeStore, tmp_path: Path) -> AsyncIterator[System]:
    with ThreadPoolExecutor(1) as executor:
        system = System(store, tmp_path, hash_model(executor))
        await emptied(store, system.model)
        yield system


async def test_a_rebuild_gives_back_turns_and_pieces(system: System) -> None:
    await system.processed([*turns(10), *LONG])
    original = await system.contents()
    report = await system.rebuild().run()
    assert await system.contents() == original
    assert (report.verified, report.embedded) == (22, 22)
    assert report.carried in ({}, {"state": 0})


async def test_a_rebuild_divides_the_turns_of_an_earlier_release_with_their_state(system: System) -> None:
    await system.processed(LONG)
    divided = await system.contents()
    records = make_records(LONG, system.model.embedder, ANALYSER)
    await system.store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    await system.store.upsert(EVERY_TENANT, COLLECTION, [retire(r) for r in records if not is_piece(r)])
    await system.rebuild().run()
    found = await system.contents()
    assert found.keys() == divided.keys()
    assert {payload["active"] for payload, _, _ in found.values()} == {False}
    assert {payload["compacted_into"] for payload, _, _ in found.values()} == {"summary"}


def retire(record: Record) -> Record:
    payload = {name: value for name, value in record.payload.items() if name != "divided"}
    return replace(record, payload=payload | {"active": False, "compacted_into": "summary"})


async def test_turns_that_no_archive_holds_are_carried_with_their_pieces(system: System) -> None:
    await system.embedded(LONG)
    system.archived(turns(4))
    original = await system.contents()
    await system.rebuild().run()
    found = await system.contents()
    assert {id_: found[id_] for id_ in original} == original


async def test_a_rebuild_carries_no_pieces_that_are_not_made_any_more(system: System) -> None:
    await system.processed(LONG)
    original = await system.contents()
    records = make_records(LONG[:1], system.model.embedder, ANALYSER)
    stale = replace(records[0], id="00000000-0000-4000-8000-000000000001", payload={**records[0].payload, "piece": 99})
    await system.store.upsert(EVERY_TENANT, COLLECTION, [stale])
    await system.rebuild().run()
    assert await system.contents() == original
    assert plain(records[-1])[0]["divided"] is True
