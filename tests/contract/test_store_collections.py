"""Collections are made once, refuse a foreign model, and can change places while in use."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio

from lithify.errors import Invalid, Misconfigured, Unavailable
from lithify.events import EVERY_TENANT
from lithify.store import CollectionSpec, EdgeStore, VectorStore, Where
from tests.contract.samples import ACME, TIERS, dense, keys, record

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


@pytest.fixture
def spec() -> CollectionSpec:
    """Never there before: these tests are about making collections."""
    return CollectionSpec(f"lithify-contract-{uuid4().hex}", TIERS, "model-a")


@pytest_asyncio.fixture
async def store(bare_store: VectorStore, spec: CollectionSpec) -> AsyncIterator[VectorStore]:
    await bare_store.ensure(spec)
    yield bare_store
    for made in await bare_store.collections():
        if made.name.startswith(spec.name):
            await bare_store.drop(made.name)


async def test_ensure_again_keeps_the_records(store: VectorStore, spec: CollectionSpec) -> None:
    await store.upsert(ACME, spec.name, [record("a")])
    await store.ensure(spec)
    assert await keys(store, spec.name, Where()) == {"a"}


async def test_several_may_ensure_at_once(store: VectorStore, spec: CollectionSpec) -> None:
    fresh = replace(spec, name=f"{spec.name}.fresh")
    await asyncio.gather(*(store.ensure(fresh) for _ in range(4)))
    await store.upsert(ACME, fresh.name, [record("a")])
    assert await keys(store, fresh.name, Where()) == {"a"}


async def test_another_model_is_refused_with_the_way_out(store: VectorStore, spec: CollectionSpec) -> None:
    """spec 03.13"""
    await store.ensure(spec)
    await store.ensure(replace(spec, fingerprint=""))
    with pytest.raises(Misconfigured, match=r"model-a.*model-b.*configure the former model.*`lithify reembed`"):
        await store.ensure(replace(spec, fingerprint="model-b"))


async def test_other_tier_lengths_are_refused(store: VectorStore, spec: CollectionSpec) -> None:
    with pytest.raises(Misconfigured, match=r"tiers.*`lithify reembed`"):
        await store.ensure(replace(spec, tiers=(2, 3, 5)))


async def test_collections_are_listed_with_their_model(store: VectorStore, spec: CollectionSpec) -> None:
    assert spec in await store.collections()


async def test_a_missing_collection_is_an_outage_and_costs_no_event(store: VectorStore) -> None:
    with pytest.raises(Unavailable, match="nowhere"):
        await store.upsert(ACME, "nowhere", [record("a")])


async def test_switch_exchanges_two_collections(store: VectorStore, spec: CollectionSpec) -> None:
    successor = CollectionSpec(f"{spec.name}.next", (1, 2, 3), "model-b")
    await store.ensure(successor)
    await store.upsert(ACME, spec.name, [record("old")])

    await store.switch(spec.name, successor.name)
    assert await store.count(ACME, spec.name, Where()) == 0
    assert await keys(store, successor.name, Where()) == {"old"}
    await store.ensure(replace(successor, name=spec.name))
    with pytest.raises(Invalid, match="shape"):
        await store.query_batch(ACME, spec.name, [dense()])


async def test_a_dropped_collection_comes_back_empty(store: VectorStore, spec: CollectionSpec) -> None:
    await store.upsert(ACME, spec.name, [record("a")])
    await store.drop(spec.name)
    assert spec not in await store.collections()
    await store.drop(spec.name)
    await store.ensure(spec)
    assert await store.count(EVERY_TENANT, spec.name, Where()) == 0


async def test_health_names_the_engine(store: VectorStore) -> None:
    health = await store.health()
    assert health.ready
    assert health.engine in ("qdrant-edge", "qdrant")
    assert health.version


async def test_a_snapshot_is_a_copy_of_its_moment(
    store: VectorStore, spec: CollectionSpec, backend: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if backend == "local":
        pytest.skip("qdrant-client's local mode has no snapshots")
    await store.upsert(ACME, spec.name, [record("before")])
    taken = await store.snapshot(spec.name, tmp_path / "snapshot")
    await store.upsert(ACME, spec.name, [record("after")])

    if backend == "edge":
        copy = EdgeStore(taken)
        assert await keys(copy, spec.name, Where()) == {"before"}
        await copy.close()
    else:
        restored = restore(request.getfixturevalue("server_url"), spec.name, taken)
        assert restored == ["before"]


def restore(url: str, name: str, snapshot: Path) -> list[str]:
    """By the way Qdrant documents, into a collection of another name; the event ids in it."""
    path = f"/collections/{name}.restored"
    with httpx.Client(base_url=url, timeout=60) as http:
        with snapshot.open("rb") as file:
            http.post(f"{path}/snapshots/upload?wait=true", files={"snapshot": file}).raise_for_status()
        points = http.post(f"{path}/points/scroll", json={"with_payload": True}).json()["result"]["points"]
        http.delete(path).raise_for_status()
    return [point["payload"]["event_id"] for point in points]
