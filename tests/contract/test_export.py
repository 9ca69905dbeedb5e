"""Export and import on every engine: a namespace comes back as it was, elsewhere and with another model too."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import httpx
import orjson
import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.access import KeyScope
from lithify.assembly.library.export import PAGE, Exporter
from lithify.assembly.library.export_routes import export_router
from lithify.assembly.library.importing import Importer
from lithify.compaction import SessionKey
from lithify.embedding import Embedder, HashEmbedder
from lithify.events import EVERY_TENANT, TenantScope
from lithify.events.scope import DEFAULT_TENANT, SHARED
from lithify.http import create_app
from lithify.http.authorization import Access
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import CollectionSpec, Record, VectorStore, Where, point_id
from lithify.store.memory_record import COLLECTION, MemoryRecord, position_of
from lithify.store.reading import every_record
from lithify.streams import Producer, keys
from tests.compaction_parts import Bench, chat, say
from tests.integration.rebuild_parts import contents
from tests.unit.forgetter.forgetting_parts import PARTITIONS

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

KEY = SessionKey(DEFAULT_TENANT, "ada", "s1")
ODD = "line\u2028separator, \x85 and\r\nbreak"
RULE = MemoryRecord(DEFAULT_TENANT, SHARED, "authored", "global", "Be brief.", 1, seq=3, source_ref="AGENTS.md")


class Of(Access):
    """Admits everybody into one tenant."""

    tenant = DEFAULT_TENANT

    def needs(self, scope: KeyScope) -> Any:  # noqa: ARG002 - every scope is granted
        return lambda: TenantScope(self.tenant)


class Rival(Of):
    tenant = "rival"


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as made:
        yield made


@asynccontextmanager
async def served(
    store: VectorStore, embedder: Embedder, redis: Redis, executor: ThreadPoolExecutor, access: type[Of] = Of
) -> AsyncIterator[httpx.AsyncClient]:
    importer = Importer(store, embedder, LexicalAnalyser(), executor, redis, PARTITIONS)
    app = create_app("test", [export_router(Exporter(store), importer, access.open())], 2**20)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


@pytest_asyncio.fixture
async def http(
    memories: VectorStore, hash_embedder: HashEmbedder, redis: Redis, executor: ThreadPoolExecutor
) -> AsyncIterator[httpx.AsyncClient]:
    async with served(memories, hash_embedder, redis, executor) as client:
        yield client


async def filled(bench: Bench) -> None:
    """Turns, a summary of most of them, guidance, an odd text, a rule without vectors, another user."""
    bench.key = KEY
    await bench.tell([*chat(4, key=KEY), say(4, "Never use tabs here.", KEY), *chat(10, start=5, key=KEY)])
    await bench.run()
    await bench.tell([say(30, ODD, KEY, meta={"deep": {"none": None, "n": [1, 0.5]}})])
    bench.key = SessionKey(DEFAULT_TENANT, "bob", "s2")
    await bench.tell(chat(2, key=bench.key))
    family = bench.embedder.manifest.family
    rule = Record(point_id(DEFAULT_TENANT, "authored", "AGENTS.md#000003", family), RULE.payload())
    await bench.store.upsert(TenantScope(DEFAULT_TENANT), COLLECTION, [rule])


async def exported(http: httpx.AsyncClient, **params: Any) -> list[dict[str, Any]]:
    answer = await http.get("/v1/export", params=params)
    assert answer.status_code == 200, answer.text
    return [orjson.loads(line) for line in answer.content.split(b"\n") if line]


async def imported(http: httpx.AsyncClient, records: list[dict[str, Any]]) -> dict[str, int]:
    answer = await http.post("/v1/import", json={"records": records})
    assert answer.status_code == 200, answer.text
    counts: dict[str, int] = answer.json()
    return counts


async def emptied(store: VectorStore) -> None:
    await store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))


@pytest.mark.parametrize("vectors", [True, False])
async def test_export_then_import_into_an_empty_store_reproduces_everything(
    bench: Bench, http: httpx.AsyncClient, vectors: bool
) -> None:
    """spec 11.5"""
    await filled(bench)
    before = await contents(bench.store)
    assert {payload["kind"] for payload, _, _ in before.values()} == {"turn", "summary", "guidance", "authored"}
    lines = await exported(http, vectors=vectors)
    await emptied(bench.store)
    counts = await imported(http, lines)
    searched = len(before) - 1
    assert counts == {"stored": len(before), "embedded": 0 if vectors else searched}
    assert await contents(bench.store) == before
    await imported(http, lines)
    assert await contents(bench.store) == before, "importing twice is importing once"


async def test_lines_say_first_what_people_look_for(bench: Bench, http: httpx.AsyncClient) -> None:
    await filled(bench)
    lines = await exported(http)
    assert [line["id"] for line in lines] == sorted(line["id"] for line in lines)
    [turn] = [line for line in lines if line["text"] == ODD]
    told = ["id", "kind", "tenant", "user", "session", "event_id", "role", "ts", "text", "active"]
    assert list(turn)[: len(told)] == told
    assert "vectors" not in turn


async def test_export_of_a_user_holds_that_user_only(bench: Bench, http: httpx.AsyncClient) -> None:
    await filled(bench)
    assert {line["user"] for line in await exported(http, user="bob")} == {"bob"}
    assert await exported(http, user="bo") == []


async def test_export_goes_on_behind_any_record(bench: Bench, http: httpx.AsyncClient) -> None:
    bench.key = KEY
    await bench.tell(chat(PAGE + 20, key=KEY))
    lines = await exported(http)
    assert len(lines) == PAGE + 20
    for place in (0, PAGE - 2, PAGE - 1, PAGE, len(lines) - 1):
        assert await exported(http, after=lines[place]["id"]) == lines[place + 1 :]
    answer = await http.get("/v1/export", params={"after": lines[3]["id"]})
    assert answer.headers["x-total-count"] == str(len(lines))


async def test_import_into_another_tenant_keeps_the_ways_between_records(
    bench: Bench, http: httpx.AsyncClient, executor: ThreadPoolExecutor, redis: Redis
) -> None:
    await filled(bench)
    lines = await exported(http, vectors=True)
    async with served(bench.store, bench.embedder, redis, executor, Rival) as rival:
        await imported(rival, lines)
        there = await exported(rival)
    assert len(there) == len(lines)
    assert {line["tenant"] for line in there} == {"rival"}
    assert {line["id"] for line in there}.isdisjoint(line["id"] for line in lines)
    into = Counter(line["compacted_into"] for line in there if "compacted_into" in line)
    assert into == {line["id"]: len(line["source_ids"]) for line in there if line["kind"] == "summary"}
    assert into
    assert await exported(http, vectors=True) == lines, "nothing of the first tenant has changed"


async def test_vectors_of_another_model_are_made_anew(
    bench: Bench, http: httpx.AsyncClient, executor: ThreadPoolExecutor, redis: Redis
) -> None:
    await filled(bench)
    lines = await exported(http, vectors=True)
    other = HashEmbedder(64, (8, 16, 64))
    await bench.store.drop(COLLECTION)
    await bench.store.ensure(CollectionSpec(COLLECTION, (8, 16, 64), other.fingerprint))
    async with served(bench.store, other, redis, executor) as elsewhere:
        counts = await imported(elsewhere, lines)
        there = await exported(elsewhere, vectors=True)
    await bench.store.drop(COLLECTION)
    assert counts == {"stored": len(lines), "embedded": len(lines) - 1}
    searched = [line for line in there if line["kind"] != "authored"]
    assert {line["embedding"] for line in searched} == {other.fingerprint}
    assert {len(line["vectors"]["l3"]) for line in searched} == {64}


async def test_imported_session_counts_on_behind_its_turns(bench: Bench, http: httpx.AsyncClient, redis: Redis) -> None:
    await filled(bench)
    lines = await exported(http, user="ada")
    await imported(http, lines)
    [accepted] = await Producer(redis, PARTITIONS, lambda: 1).accept([(say(0, "hello", KEY, seq=None), "digest")])
    assert accepted.seq == 31
    partition = keys.partition_of(DEFAULT_TENANT, "s2", PARTITIONS)
    assert await redis.get(keys.session_seq(partition, DEFAULT_TENANT, "bob", "s2")) is None


GOOD = {"id": "11111111-1111-5111-8111-111111111111", "kind": "turn", "user": "ada", "text": "tea", "ts": 1}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": None}, "records.0.kind"),
        ({"ts": -1}, "records.0.ts"),
        ({"text": 7}, "records.0.text"),
        ({"active": "perhaps", "scope": "session"}, "active"),
        ({}, "scope"),
        ({"vectors": {"l3": "x"}}, "records.0.vectors.l3"),
    ],
)
async def test_line_that_is_no_record_is_refused_with_its_place(
    http: httpx.AsyncClient, memories: VectorStore, change: dict[str, Any], told: str
) -> None:
    answer = await http.post("/v1/import", json={"records": [GOOD | change]})
    assert (answer.status_code, told in answer.json()["detail"]) == (422, True), answer.text
    assert await memories.count(EVERY_TENANT, COLLECTION, Where()) == 0


TURN = GOOD | {"scope": "session", "session": "s1", "event_id": "e1", "role": "user", "seq": 7}


@pytest.mark.parametrize(
    "change",
    [
        {"seq": "7"},
        {"seq": 7.0},
        {"seq": True},
        {"seq": -1},
        {"seq": 2**52},
        {"seq": 2**70},
        {"session": None},
        {"ts": "1"},
        {"ts": 1.5},
        {"anchors": "0.5"},
        {"anchors": -1},
        {"token_estimate": "12"},
        {"token_estimate": 2**40},
        {"active": 1},
        {"claims": "boat"},
        {"claims": [1]},
        {"claims": ["boat"], "event_id": None},
        {"scope": "everywhere"},
        {"user": "a\nb"},
        {"user": "\x1b[31m"},
        {"session": "s\u202e1"},
        {"session": "s" * 257},
        {"event_id": ["e1"]},
        {"role": {"name": "user"}},
        {"text": "x" * 262_145},
        {"meta": {"deep": [[[[[[[[1]]]]]]]]}},
        {"meta": {"long": "x" * 9_000}},
        {"lineage": {"support_summary_ids": 5}},
        {"lineage": ["x"]},
        {"hop_targets": 5},
        {"mentions": [None]},
        {"compacted_into": 5},
        {"gating_score": "high"},
        {"kind": "summary", "source_ids": []},
        {"accepted": "yesterday"},
        {"_place": ["elsewhere"]},
        {"vectors": {"l3": ["x"]}},
        {"vectors": {"l3": [1.0]}, "embedding": "model"},
        {"links": {"x": {"kind": 5, "key": "y"}}},
    ],
    ids=lambda change: repr(change)[:40],
)
async def test_a_line_out_of_bounds_is_refused_and_leaves_nothing(
    http: httpx.AsyncClient, memories: VectorStore, hash_embedder: HashEmbedder, change: dict[str, Any]
) -> None:
    fingerprint = {"embedding": hash_embedder.fingerprint} if "embedding" in change else {}
    if "embedding" in change:
        change = change | {"vectors": {"l1": [1.0], "l2": [1.0], "l3": [1.0]}}
    whole = TURN | {"id": str(GOOD["id"]).replace("1", "2"), "event_id": "e0"}
    answer = await http.post("/v1/import", json={"records": [whole, TURN | change | fingerprint]})
    assert answer.status_code == 422, answer.text
    assert await memories.count(EVERY_TENANT, COLLECTION, Where()) == 0, "not even the good line beside it"


async def test_a_line_is_stored_by_its_values_and_at_its_own_place(
    http: httpx.AsyncClient, memories: VectorStore, redis: Redis
) -> None:
    odd = TURN | {"anchors": 1, "position": "3:eve1:s1:9", "accepted": 9 * 10**12, "of_a_newer_release": {"x": [1]}}
    await imported(http, [odd])
    [record] = [record async for record in every_record(memories, EVERY_TENANT, COLLECTION, Where())]
    assert record.payload["position"] == position_of("ada", "s1", 7)
    assert record.payload["of_a_newer_release"] == {"x": [1]}
    seconds, _ = await redis.time()
    assert record.payload["accepted"] <= (seconds + 60) * 1000, "nothing of the future escapes a forgetting"


async def test_position_that_is_no_id_is_refused(http: httpx.AsyncClient) -> None:
    answer = await http.get("/v1/export", params={"after": "yesterday"})
    assert (answer.status_code, "after" in answer.json()["detail"]) == (422, True)
