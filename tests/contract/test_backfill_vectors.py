"""Tiers can be added to stored records without touching anything else of them."""

import numpy as np
import pytest

from lithify.errors import Invalid
from lithify.store import LEXICAL, TIER_NAMES, Record, VectorStore, Where
from tests.contract.samples import ACME, RIVAL, dense, id_of, keys, record

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

FRESH = {"l1": np.array([0.0, 1.0], np.float32), "l3": np.array([0, 0, 0, 1], np.float32)}


async def read(store: VectorStore, name: str, key: str) -> Record:
    [found] = await store.fetch(ACME, name, [id_of(key)], with_vectors=(*TIER_NAMES, LEXICAL))
    return found


async def test_tiers_are_added_and_everything_else_stays(store: VectorStore, name: str) -> None:
    bare = record("a", terms=(7, 9), meta={"n": 1})
    await store.upsert(ACME, name, [Record(bare.id, bare.payload, {"l2": bare.vectors["l2"]}, bare.lexical)])
    await store.set_vectors(ACME, name, {bare.id: FRESH})
    found = await read(store, name, "a")
    assert {tier: vector.tolist() for tier, vector in found.vectors.items()} == {
        "l1": [0, 1],
        "l2": [1, 0, 0],
        "l3": [0, 0, 0, 1],
    }
    assert (found.payload, found.lexical) == (bare.payload, bare.lexical)
    [[hit]] = await store.query_batch(ACME, name, [dense((0, 0, 0, 1))])
    assert hit.id == bare.id
    assert hit.score == pytest.approx(1.0)


async def test_what_is_gone_does_not_come_back_and_hinders_nobody(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a")])
    await store.set_vectors(ACME, name, {id_of("gone"): FRESH, id_of("a"): FRESH})
    assert await keys(store, name, Where()) == {"a"}
    assert (await read(store, name, "a")).vectors["l1"].tolist() == [0, 1]
    await store.set_vectors(ACME, name, {})


async def test_records_of_another_tenant_are_left_alone(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a")])
    await store.set_vectors(RIVAL, name, {id_of("a"): FRESH})
    assert (await read(store, name, "a")).vectors["l1"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("id_", "tiers", "complaint"),
    [
        ("not a uuid", FRESH, "uuid"),
        (id_of("a"), {"l4": FRESH["l1"]}, "unknown vector 'l4'"),
        (id_of("a"), {"l1": FRESH["l3"]}, "wants"),
        (id_of("a"), {"l1": np.array([np.nan, 0], np.float32)}, "not finite"),
    ],
    ids=["id", "name", "length", "value"],
)
async def test_vectors_that_do_not_fit_are_refused(
    store: VectorStore,
    name: str,
    id_: str,
    tiers: dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]],
    complaint: str,
) -> None:
    await store.upsert(ACME, name, [record("a")])
    with pytest.raises(Invalid, match=complaint):
        await store.set_vectors(ACME, name, {id_: tiers})
    assert (await read(store, name, "a")).vectors["l1"].tolist() == [1, 0]
