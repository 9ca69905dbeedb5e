"""Writes are whole, repeatable, and refused when malformed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lithify.errors import Invalid
from lithify.events import EVERY_TENANT, TenantScope
from lithify.store import Record, SparseVector, VectorStore, Where
from lithify.store.where import NO_RECORD
from tests.contract.samples import ACME, dense, id_of, keys, lexical, record

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


async def test_a_record_comes_back_as_it_was_written(store: VectorStore, name: str) -> None:
    payload = {"text": "Grüße 👋", "n": 3, "f": 0.25, "yes": True, "none": None, "list": ["a", 1], "deep": {"x": [1]}}
    written = record("a", l3=(0.5, -1, 2, 0.25), terms=(7, 4_000_000_000), **payload)
    await store.upsert(ACME, name, [written])
    [read] = await store.fetch(ACME, name, [written.id], with_vectors=("l1", "l2", "l3", "lexical"))
    assert read.payload == written.payload
    assert {key: vector.tolist() for key, vector in read.vectors.items()} == {
        "l1": [0.5, -1],
        "l2": [0.5, -1, 2],
        "l3": [0.5, -1, 2, 0.25],
    }
    assert read.lexical == written.lexical


async def test_writing_twice_is_writing_once(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a", text="first")])
    await store.upsert(ACME, name, [record("a", text="second")])
    assert await store.count(ACME, name, Where()) == 1
    [read] = await store.fetch(ACME, name, [id_of("a")])
    assert read.payload["text"] == "second"


async def test_a_rewrite_replaces_payload_and_vectors_as_a_whole(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a", old=True)])
    bare = record("a")
    await store.upsert(ACME, name, [replace(bare, vectors={"l1": bare.vectors["l1"]}, lexical=None)])
    [read] = await store.fetch(ACME, name, [bare.id], with_vectors=("l1", "l2", "l3", "lexical"))
    assert "old" not in read.payload
    assert set(read.vectors) == {"l1"}
    assert read.lexical is None


async def test_a_record_may_lack_vectors(store: VectorStore, name: str) -> None:
    words_only = replace(record("words", terms=(9,)), vectors={})
    silent = replace(record("silent"), vectors={}, lexical=SparseVector((), ()))
    await store.upsert(ACME, name, [words_only, silent, record("full")])
    by_words, by_meaning = await store.query_batch(ACME, name, [lexical((9,)), dense()])
    assert [hit.id for hit in by_words] == [words_only.id]
    assert [hit.id for hit in by_meaning] == [id_of("full")]
    assert await store.count(ACME, name, Where()) == 3


async def test_a_large_batch_is_written_completely(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record(f"n{n}", seq=n) for n in range(200)])
    assert await keys(store, name, Where()) == {f"n{n}" for n in range(200)}


MALFORMED: Mapping[str, tuple[Record, str]] = {
    "length": (replace(record("x"), vectors={"l1": np.ones(3, np.float32)}), r"l1 has the shape \(3,\)"),
    "name": (replace(record("x"), vectors={"l9": np.ones(3, np.float32)}), "unknown vector 'l9'"),
    "nan": (replace(record("x"), vectors={"l1": np.array([1, np.nan], np.float32)}), "not finite"),
    "sparse nan": (replace(record("x"), lexical=SparseVector((1,), (float("inf"),))), "not finite"),
    "id": (replace(record("x"), id="x"), "not a uuid"),
    "no tenant": (replace(record("x"), payload={"user": "ada"}), "needs a tenant"),
    "session": (record("x", session=3), "session must be text"),
    "not json": (record("x", odd={1, 2}), "JSON"),
    "huge number": (record("x", n=2**70), "JSON"),
    "reserved": (record("x", _place=["somewhere"]), "_place is reserved"),
}


@pytest.mark.parametrize("case", MALFORMED)
async def test_a_malformed_record_is_refused_and_leaves_nothing(store: VectorStore, name: str, case: str) -> None:
    """spec 03.15: a vector of another length than its tier, and every other malformation."""
    malformed, words = MALFORMED[case]
    with pytest.raises(Invalid, match=words):
        await store.upsert(ACME, name, [record("good"), malformed])
    assert await store.count(EVERY_TENANT, name, Where()) == 0


async def test_what_is_there_can_be_left_alone_while_the_rest_is_added(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a", active=False, note="first")])
    await store.upsert(ACME, name, [record("a", l3=(0, 1, 0, 0)), record("b")], replacing=NO_RECORD)
    old, new = await store.fetch(ACME, name, [id_of("a"), id_of("b")], with_vectors=("l3",))
    assert (old.payload["note"], old.payload["active"], old.vectors["l3"].tolist()) == ("first", False, [1, 0, 0, 0])
    assert new.vectors["l3"].tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(
    "condition",
    [
        Where().equals("active", True),
        Where().missing("compacted_into"),
        Where().between("gating_score", 0.25, 0.25),
        Where().equals("superseded_by", "x"),
    ],
)
async def test_a_record_is_replaced_only_while_the_condition_holds(
    store: VectorStore, name: str, condition: Where
) -> None:
    fitting = record("fits", active=True, gating_score=0.25, superseded_by="x")
    moved = record("moved", active=False, gating_score=0.5, superseded_by="y", compacted_into="s1")
    await store.upsert(ACME, name, [fitting, moved])
    await store.upsert(ACME, name, [record("fits", note="new"), record("moved", note="new")], replacing=condition)
    assert await keys(store, name, Where().equals("note", "new")) == {"fits"}


async def test_set_payload_merges_into_what_matches(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a", active=True, n=1), record("b", active=True), record("c", active=False)])
    await store.set_payload(ACME, name, Where().equals("active", True), {"active": False, "compacted_into": "s1"})
    found = await store.fetch(ACME, name, [id_of("a"), id_of("b"), id_of("c")], with_vectors=("l3",))
    assert [r.payload.get("compacted_into") for r in found] == ["s1", "s1", None]
    assert found[0].payload["n"] == 1
    assert found[0].vectors["l3"].tolist() == [1, 0, 0, 0]


async def test_set_payload_by_ids_touches_only_them(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a"), record("b")])
    await store.set_payload(ACME, name, Where().ids([id_of("b")]), {"gating_score": 0.5})
    assert await keys(store, name, Where().present("gating_score")) == {"b"}


@pytest.mark.parametrize("field", ["tenant", "user", "session", "_place"])
async def test_a_record_cannot_be_given_away(store: VectorStore, name: str, field: str) -> None:
    await store.upsert(ACME, name, [record("a")])
    with pytest.raises(Invalid, match=field):
        await store.set_payload(ACME, name, Where(), {field: "rival"})


async def test_delete_removes_what_matches_and_only_that(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a", session="s1"), record("b", session="s1"), record("c", session="s2")])
    await store.delete(ACME, name, Where().equals("session", "s1"))
    assert await keys(store, name, Where()) == {"c"}
    [hits] = await store.query_batch(ACME, name, [dense()])
    assert [hit.id for hit in hits] == [id_of("c")]


async def test_a_tenant_can_be_forgotten_as_a_whole(store: VectorStore, name: str) -> None:
    await store.upsert(EVERY_TENANT, name, [record("a"), record("b", tenant="rival")])
    await store.delete(TenantScope("rival"), name, Where())
    assert await store.count(EVERY_TENANT, name, Where()) == 1


async def test_deleting_everything_of_everybody_is_refused(store: VectorStore, name: str) -> None:
    with pytest.raises(Invalid, match="drop"):
        await store.delete(EVERY_TENANT, name, Where())


async def test_an_empty_update_is_refused(store: VectorStore, name: str) -> None:
    empty: dict[str, Any] = {}
    with pytest.raises(Invalid, match="at least one key"):
        await store.set_payload(ACME, name, Where(), empty)


async def test_writing_nothing_is_no_error(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [])
    assert await store.count(ACME, name, Where()) == 0


async def test_many_payloads_are_merged_each_into_its_own_record(store: VectorStore, name: str) -> None:
    await store.upsert(EVERY_TENANT, name, [record("a", seq=1), record("b", seq=1), record("c", tenant="rival")])
    changes: dict[str, dict[str, int | str]] = {
        id_of("a"): {"seq": 2},
        id_of("b"): {"note": "x"},
        id_of("c", "rival"): {"seq": 9},
        id_of("gone"): {"seq": 9},
    }
    await store.set_payloads(ACME, name, changes)
    found = await store.fetch(EVERY_TENANT, name, [id_of("a"), id_of("b"), id_of("c", "rival"), id_of("gone")])
    assert [(one.payload.get("seq"), one.payload.get("note")) for one in found] == [(2, None), (1, "x"), (None, None)]
    await store.set_payloads(ACME, name, {})
    with pytest.raises(Invalid):
        await store.set_payloads(ACME, name, {id_of("a"): {"user": "eve"}})
