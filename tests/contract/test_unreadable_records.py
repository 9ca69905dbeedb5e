"""A record that is not what it should be costs nobody an answer: it is left out, counted and told of."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from redis.asyncio import Redis

from lithify.assembly.library.export import Exporter
from lithify.assembly.library.timeline import Timelines
from lithify.assembly.schema import SearchRequest
from lithify.events import EVERY_TENANT, TenantScope
from lithify.store import VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.store.readable import leave_out_unreadable
from lithify.telemetry.metrics import REGISTRY
from tests.contract.assembly_parts import CALLER, PARTITIONS, Moody, Scene, Watched

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

BROKEN: list[dict[str, Any]] = [
    {"seq": "7"},
    {"seq": 7.5},
    {"anchors": "0.5"},
    {"token_estimate": "12"},
    {"text": None},
    {"text": ["cat"]},
    {"ts": "yesterday"},
    {"ts": None},
    {"claims": "cat"},
    {"source_ids": 5},
    {"hop_targets": [5]},
    {"scope": "everywhere"},
    {"active": "yes"},
    {"kind": 5},
    {"event_id": ["e"]},
    {"lineage": "none"},
    {"compacted_into": 5},
]


@pytest.fixture
def scene(memories: VectorStore, redis: Redis) -> Scene:
    store = leave_out_unreadable(memories)
    return Scene(Watched(store), redis, Moody(32, (8, 16, 32)))


async def spoil(store: VectorStore, record_id: str, change: dict[str, Any]) -> None:
    """Writes what an import of an earlier release might have let in."""
    [record] = await store.fetch(EVERY_TENANT, COLLECTION, [record_id], with_vectors=("l1", "l2", "l3", "lexical"))
    payload = {name: value for name, value in (dict(record.payload) | change).items() if value is not None}
    await store.upsert(EVERY_TENANT, COLLECTION, [replace(record, payload=payload)])


def counted() -> float:
    return REGISTRY.get_sample_value("lithify_unreadable_records_total") or 0.0


@pytest.mark.parametrize("change", BROKEN, ids=repr)
async def test_an_unreadable_record_is_left_out_and_told_of(
    scene: Scene, memories: VectorStore, change: dict[str, Any]
) -> None:
    bad = await scene.remember("my cat is Ludwig", "e1", session="now", seq=3)
    await scene.remember("my cat eats fish", "e2", session="now", seq=4)
    await spoil(memories, bad, change)
    before = counted()
    request = SearchRequest.model_validate({"user": "ada", "query": "cat", "limit": 10})
    answer = await scene.service.search(CALLER, request)
    assert [hit.text for hit in answer.hits] == ["my cat eats fish"]
    prompt = await scene.assemble("cat")
    assert "Ludwig" not in prompt.text
    assert "fish" in prompt.text
    assert any("cannot be read" in reason for reason in answer.degraded)
    assert any("cannot be read" in reason for reason in prompt.degraded)
    assert counted() > before


@pytest.mark.parametrize("change", [{"seq": "7"}, {"anchors": "0.5"}, {"hop_targets": 5}], ids=repr)
async def test_timeline_and_export_go_on_without_it(
    memories: VectorStore, redis: Redis, change: dict[str, Any]
) -> None:
    store = leave_out_unreadable(memories)
    scene = Scene(Watched(store), redis, Moody(32, (8, 16, 32)))
    bad = await scene.remember("my cat is Ludwig", "e1", session="now", seq=3)
    await scene.remember("my cat eats fish", "e2", session="now", seq=4)
    await spoil(memories, bad, change)
    view = await Timelines(store, redis, PARTITIONS).read(TenantScope(CALLER.tenant, "ada"), "now", 10)
    assert view.unreadable == 1 or change == {"seq": "7"}, "a position of the wrong type is not even found"
    assert [turn.text for turn in view.turns] == ["my cat eats fish"]
    lines = b"".join([page async for page in Exporter(store).lines(CALLER, None, vectors=False)])
    assert [orjson.loads(line)["text"] for line in lines.splitlines()] == ["my cat eats fish"]


async def test_a_store_without_such_records_says_nothing(scene: Scene, memories: VectorStore) -> None:
    await scene.remember("my cat eats fish", "e2")
    before = counted()
    assert not any("cannot be read" in reason for reason in (await scene.assemble("cat")).degraded)
    assert counted() == before
    assert await memories.count(EVERY_TENANT, COLLECTION, Where()) == 1
