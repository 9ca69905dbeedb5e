"""Turns the model cannot embed are stored with their words, and backfill gives them their vectors later (spec 03)."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from redis.asyncio import Redis

from lithify.embedder.backfill import read_checkpoint
from lithify.embedding import HashEmbedder
from lithify.errors import Invalid, Unavailable
from lithify.events import EVERY_TENANT, TenantScope
from lithify.indexing import Tiers, embed_tiers
from lithify.jobs import open_connection
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Query, Record, SparseVector, VectorStore, Where, point_id
from lithify.store.memory_record import COLLECTION
from tests.unit.embedder.backfill_parts import Died, Pipeline, event, plain
from tests.unit.embedder.faulty_embedder import BAD, FaultyEmbedder

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

ACME = TenantScope("acme")
TRAM = "the tram is yellow"
GOOD, SPOILT = event("e1", TRAM), event("e2", f"{BAD} things were said")
NOTHING = {"restored": 0, "embedded": 0, "dropped": 0, "remaining": 0}


@pytest.fixture
def pipeline(memories: VectorStore, hash_embedder: HashEmbedder, redis: Redis, redis_url: str) -> Iterator[Pipeline]:
    with ThreadPoolExecutor(1) as executor, open_connection(redis_url) as connection:
        yield Pipeline(memories, FaultyEmbedder(hash_embedder), redis, connection, executor)


def mended(pipeline: Pipeline) -> Pipeline:
    """The same after the model was mended."""
    healthy = FaultyEmbedder(pipeline.embedder)
    healthy.refuses = None
    return Pipeline(pipeline.store, healthy, pipeline.redis, pipeline.connection, pipeline.executor)


async def found_by_words(store: VectorStore, text: str) -> list[str]:
    indices, values = LexicalAnalyser().query_vector(text)
    query = Query(Where(), "lexical", SparseVector(tuple(indices), tuple(values)), 10)
    [hits] = await store.query_batch(ACME, COLLECTION, [query])
    return [hit.payload["event_id"] for hit in hits]


async def test_a_turn_that_cannot_be_embedded_is_found_by_its_words(pipeline: Pipeline) -> None:
    await pipeline.take(GOOD, SPOILT)
    records = await pipeline.records()
    assert records["e2"].vectors == {}
    assert records["e2"].payload["missing_tiers"] == ["l1", "l2", "l3"]
    assert await found_by_words(pipeline.store, "things said") == ["e2"]
    assert set(records["e1"].vectors) == {"l1", "l2", "l3"}
    assert "missing_tiers" not in records["e1"].payload


async def test_its_receipt_says_what_is_wrong_and_both_are_announced(pipeline: Pipeline) -> None:
    await pipeline.take(GOOD, SPOILT)
    receipt = await pipeline.receipt("e2")
    assert (receipt["embedded_at"], receipt["error"]) == ("5000", "LithifyError: the model failed")
    assert "error" not in await pipeline.receipt("e1")
    assert await pipeline.announced() == ["e1", "e2"]


async def test_backfill_gives_it_the_vectors_it_would_have_had(pipeline: Pipeline) -> None:
    await pipeline.take(GOOD, SPOILT)
    healthy = mended(pipeline)
    assert await healthy.backfill() == NOTHING | {"embedded": 1}
    payload, *vectors = plain((await healthy.records())["e2"])
    assert payload.pop("missing_tiers") == []
    await healthy.store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    await healthy.take(SPOILT)
    assert [payload, *vectors] == [*plain((await healthy.records())["e2"])]
    receipt = await pipeline.receipt("e2")
    assert (receipt["error"], receipt["backfilled_at"]) == ("", "5000")
    assert (await pipeline.announced())[-1] == "e2", "the gate must look at it again"


async def test_a_second_backfill_changes_nothing(pipeline: Pipeline) -> None:
    """spec 03.6 (idempotence)"""
    await pipeline.take(GOOD, SPOILT)
    healthy = mended(pipeline)
    await healthy.backfill()
    before = {key: plain(record) for key, record in (await healthy.records()).items()}
    assert await healthy.backfill("b2") == NOTHING
    assert {key: plain(record) for key, record in (await healthy.records()).items()} == before


async def test_what_still_cannot_be_embedded_keeps_its_marker(pipeline: Pipeline) -> None:
    await pipeline.take(GOOD, SPOILT)
    assert await pipeline.backfill() == NOTHING | {"remaining": 1}
    assert (await pipeline.records())["e2"].payload["missing_tiers"] == ["l1", "l2", "l3"]


async def test_a_broken_model_stores_every_turn_and_says_that_it_is_broken(pipeline: Pipeline) -> None:
    pipeline.embedder.broken = True
    await pipeline.take(GOOD, event("e3", "lunch was late"))
    assert {key: record.vectors for key, record in (await pipeline.records()).items()} == {"e1": {}, "e3": {}}
    assert not pipeline.embedder.health().ready
    pipeline.embedder.broken = False
    assert await pipeline.backfill() == NOTHING | {"embedded": 2}


async def stored(pipeline: Pipeline, key: str, tiers: Sequence[str], **payload: Any) -> Record:
    """A record as an injected failure leaves it: some tiers, and markers for the others."""
    vectors = tiers_of(pipeline, TRAM)
    whole = {"tenant": "acme", "user": "ada", "kind": "turn", "event_id": key, "text": TRAM}
    record = Record(point_id("acme", "turn", key, "hash"), whole | payload, {t: vectors[t] for t in tiers})
    await pipeline.store.upsert(ACME, COLLECTION, [record])
    return record


def tiers_of(pipeline: Pipeline, text: str) -> Tiers:
    return embed_tiers([text], pipeline.embedder)[0]


@pytest.mark.parametrize("missing", [("l2",), ("l1", "l2")], ids=["l2", "both"])
async def test_lower_tiers_are_restored_from_the_full_vector(pipeline: Pipeline, missing: tuple[str, ...]) -> None:
    """spec 03.6, 03.7"""
    present = [tier for tier in ("l1", "l2", "l3") if tier not in missing]
    await stored(pipeline, "r", present, missing_tiers=list(missing))
    pipeline.embedder.broken = True  # the full vector is enough
    assert await pipeline.backfill() == NOTHING | {"restored": len(missing)}
    pipeline.embedder.broken = False
    expected = tiers_of(pipeline, TRAM)
    found = (await pipeline.records())["r"]
    assert all(np.allclose(found.vectors[tier], expected[tier], atol=1e-6) for tier in ("l1", "l2", "l3"))
    assert found.payload["missing_tiers"] == []


@pytest.mark.parametrize(
    ("tiers", "payload"),
    [
        (("l1", "l2", "l3"), {"missing_tiers": [7]}),
        (("l1", "l2", "l3"), {"missing_tiers": ["128d"]}),
        ((), {"missing_tiers": ["l1"], "text": ""}),
    ],
    ids=["malformed", "unknown tier", "neither vector nor text"],
)
async def test_markers_that_can_never_be_repaired_are_dropped(
    pipeline: Pipeline, tiers: tuple[str, ...], payload: dict[str, Any]
) -> None:
    """spec 03.9; a record without its full vector has its text to be made from, unless that is missing, too"""
    await stored(pipeline, "r", tiers, **payload)
    assert await pipeline.backfill() == NOTHING | {"dropped": 1}
    assert await pipeline.store.count(EVERY_TENANT, COLLECTION, Where().present("missing_tiers")) == 0


async def test_deleting_a_record_removes_all_its_tiers_and_its_marker(pipeline: Pipeline) -> None:
    """spec 03.8"""
    record = await stored(pipeline, "r", ("l1", "l3"), missing_tiers=["l2"])
    await pipeline.store.delete(ACME, COLLECTION, Where().ids([record.id]))
    assert await pipeline.records() == {}
    assert await pipeline.backfill() == NOTHING


async def test_a_failed_write_of_the_full_vector_stores_nothing(pipeline: Pipeline) -> None:
    """spec 03.7 (full vector), 03.15: tiers and payload are one write"""
    wrong = {"l1": np.ones(8), "l3": np.ones(31)}
    with pytest.raises(Invalid, match="l3 has the shape"):
        await pipeline.store.upsert(
            ACME, COLLECTION, [Record(point_id("acme", "turn", "w", "hash"), {"tenant": "acme"}, wrong)]
        )
    assert await pipeline.records() == {}


async def test_what_others_write_meanwhile_stays(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stale copy of a record must never be written over a newer one, nor bring a forgotten one back."""
    await pipeline.take(SPOILT, event("e3", f"{BAD} too"))
    healthy = mended(pipeline)
    set_vectors = pipeline.store.set_vectors

    async def late(scope: Any, collection: str, tiers: Any, /) -> None:
        await pipeline.store.set_payload(ACME, COLLECTION, Where().equals("event_id", "e2"), {"active": False})
        await pipeline.store.delete(ACME, COLLECTION, Where().equals("event_id", "e3"))
        await set_vectors(scope, collection, tiers)

    monkeypatch.setattr(pipeline.store, "set_vectors", late)
    await healthy.backfill()
    records = await healthy.records()
    assert set(records) == {"e2"}
    assert records["e2"].payload["active"] is False
    assert set(records["e2"].vectors) == {"l1", "l2", "l3"}


async def test_dying_between_vectors_and_marker_is_repaired_by_the_next_run(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pipeline.take(SPOILT)
    healthy = mended(pipeline)
    await die_at("backfill_written", healthy, monkeypatch)
    assert (await healthy.records())["e2"].payload["missing_tiers"] == ["l1", "l2", "l3"]
    assert await healthy.backfill() == NOTHING | {"restored": 2}
    assert (await healthy.records())["e2"].payload["missing_tiers"] == []


async def die_at(point: str, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash_point(name: str) -> None:
        if name == point:
            raise Died

    with monkeypatch.context() as patch:
        patch.setattr("lithify.embedder.backfill.crash_point", crash_point)
        patch.setattr("lithify.embedder.worker.crash_point", crash_point)
        with pytest.raises(Died):
            await pipeline.backfill() if point.startswith("backfill") else await pipeline.take(GOOD)


async def test_a_killed_backfill_goes_on_behind_the_last_page(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lithify.embedder.backfill.PAGE", 2)
    await pipeline.take(*(event(f"e{n}", f"{BAD} {n}") for n in range(5)))
    await die_at("backfill_page", pipeline, monkeypatch)
    calls = pipeline.embedder.calls
    assert await pipeline.backfill() == NOTHING | {"remaining": 5}
    # Two pages are left: one of two texts, tried together and one by one, and one of a single text.
    assert pipeline.embedder.calls - calls == 3 + 1


def test_a_foreign_checkpoint_is_refused() -> None:
    with pytest.raises(Invalid, match="not one of its own"):
        read_checkpoint({"page": 3})


async def test_events_are_announced_before_they_are_marked(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    await die_at("after_publish", pipeline, monkeypatch)
    assert await pipeline.announced() == ["e1"]
    assert "embedded_at" not in await pipeline.receipt("e1")


async def test_no_event_is_announced_before_it_is_stored(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    await die_at("after_upsert", pipeline, monkeypatch)
    assert set(await pipeline.records()) == {"e1"}
    assert await pipeline.announced() == []


@pytest.mark.parametrize(
    "ignored",
    [event("t", "{}", role="tool"), event("h", "ping", source_kind="heartbeat")],
    ids=["tool", "heartbeat"],
)
async def test_what_never_becomes_memory_is_receipted_and_not_announced(pipeline: Pipeline, ignored: Any) -> None:
    await pipeline.take(ignored)
    assert await pipeline.records() == {}
    assert await pipeline.announced() == []
    assert "never becomes memory" in (await pipeline.receipt(ignored.event_id))["ignored"]


async def test_an_embedder_that_is_away_leaves_the_turns_to_the_stream(pipeline: Pipeline) -> None:
    away = FaultyEmbedder(pipeline.embedder, Unavailable("away"))
    with pytest.raises(Unavailable):
        await Pipeline(pipeline.store, away, pipeline.redis, pipeline.connection, pipeline.executor).take(SPOILT)
    assert await pipeline.records() == {}
