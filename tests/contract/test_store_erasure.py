"""Erasing: what was deleted is in no file any more, and nothing that lives is harmed, whatever is written meanwhile."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from lithify.errors import Unavailable
from lithify.events import EVERY_TENANT
from lithify.store import CollectionSpec, EdgeStore, Erasure, Record, VectorStore, Where
from lithify.store.edge_copy import GrowingCopy
from lithify.store.edge_folder import LEAVING
from lithify.store.reading import every_record
from lithify.store.where import NO_RECORD
from tests.contract.samples import ACME, TIERS, id_of, record

SECRET = "The safe opens with 4711"  # noqa: S105 - it is what must vanish
COLLECTION = "memories"
SPEC = CollectionSpec(COLLECTION, TIERS, "model-a")


@pytest_asyncio.fixture
async def edge(tmp_path: Path) -> AsyncIterator[EdgeStore]:
    store = EdgeStore(tmp_path / "vectors")
    await store.ensure(SPEC)
    yield store
    await store.close()


def holding(folder: Path, words: str) -> list[str]:
    """The files that hold the words, in either encoding a file may have them in."""
    needles = [words.encode(), words.encode("utf-16-le")]
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if any(one in path.read_bytes() for one in needles)]


async def contents(store: VectorStore) -> dict[str, Any]:
    found = every_record(store, EVERY_TENANT, COLLECTION, Where(), ("l1", "l2", "l3", "lexical"))
    return {
        one.id: (dict(one.payload), {name: vector.tolist() for name, vector in one.vectors.items()}, one.lexical)
        async for one in found
    }


async def test_deleted_words_are_in_no_file_after_an_erasure(edge: EdgeStore, tmp_path: Path) -> None:
    kept = [record(f"k{number}", note=f"tea {number}") for number in range(150)]
    await edge.upsert(ACME, COLLECTION, [record("doomed", note=SECRET), *kept])
    await edge.upsert(ACME, COLLECTION, [record("changed", note=SECRET)])
    await edge.upsert(ACME, COLLECTION, [record("changed", note="tea")])
    await edge.delete(ACME, COLLECTION, Where().ids([id_of("doomed")]))
    before = await contents(edge)
    assert holding(tmp_path, SECRET), "or else the engine has learnt to clean up, and all this may go"

    assert await edge.erase_deleted(COLLECTION) is Erasure.DONE

    assert holding(tmp_path, SECRET) == []
    assert await contents(edge) == before
    await edge.close()
    assert holding(tmp_path, SECRET) == []
    reopened = EdgeStore(tmp_path / "vectors")
    assert await contents(reopened) == before
    await reopened.close()


async def test_large_collection_is_erased_later_even_by_another_process(edge: EdgeStore, tmp_path: Path) -> None:
    await edge.upsert(ACME, COLLECTION, [record("doomed", note=SECRET), record("a"), record("b")])
    await edge.delete(ACME, COLLECTION, Where().ids([id_of("doomed")]))
    assert await edge.erase_deleted(COLLECTION, most=1) is Erasure.POSTPONED
    assert holding(tmp_path, SECRET)
    await edge.close()
    reopened = EdgeStore(tmp_path / "vectors")
    assert await reopened.erase_postponed() == [COLLECTION]
    assert holding(tmp_path, SECRET) == []
    assert await reopened.erase_postponed() == []
    assert len(await contents(reopened)) == 2
    await reopened.close()


async def write_at_random(store: EdgeStore, names: list[str], dice: random.Random) -> None:
    name = dice.choice(names)
    match dice.randrange(5):
        case 0:
            await store.upsert(ACME, COLLECTION, [record(name, note=f"n{dice.random()}", active=dice.random() < 0.5)])
        case 1:
            await store.upsert(ACME, COLLECTION, [record(name, note="only if new")], replacing=NO_RECORD)
        case 2:
            await store.delete(ACME, COLLECTION, Where().ids([id_of(name)]).equals("active", True))
        case 3:
            await store.set_payload(ACME, COLLECTION, Where().ids([id_of(name)]), {"n": dice.randrange(100)})
        case _:
            await store.set_vectors(ACME, COLLECTION, {id_of(name): {"l3": np.array((0, 1, 0, 0), np.float32)}})


@pytest.mark.parametrize("seed", range(4))
async def test_what_is_written_during_an_erasure_is_there_afterwards(edge: EdgeStore, seed: int) -> None:
    """The same writes go to a store that is left alone."""
    dice = random.Random(seed)  # noqa: S311 - repeatable on purpose
    names = [f"r{number}" for number in range(300)]
    await edge.upsert(ACME, COLLECTION, [record(name, active=True) for name in names[:200]])
    erasing = asyncio.create_task(edge.erase_deleted(COLLECTION))
    written = 0
    model = EdgeStoreModel(await contents(edge))
    while not erasing.done():
        state = dice.getstate()
        await write_at_random(edge, names, dice)
        dice.setstate(state)
        await model.replay(names, dice)
        written += 1
    assert await erasing is Erasure.DONE
    assert written > 3
    found = {id_: payload for id_, (payload, _, _) in (await contents(edge)).items()}
    assert found == model.payloads


class EdgeStoreModel:
    """What the writes of `write_at_random` make of payloads, in plain Python."""

    def __init__(self, before: dict[str, Any]) -> None:
        self.payloads: dict[str, dict[str, Any]] = {id_: dict(payload) for id_, (payload, _, _) in before.items()}

    async def replay(self, names: list[str], dice: random.Random) -> None:
        store: Any = self
        await write_at_random(store, names, dice)

    async def upsert(self, _scope: Any, _name: str, records: list[Record], *, replacing: Where | None = None) -> None:
        for one in records:
            if replacing is None or one.id not in self.payloads:
                self.payloads[one.id] = dict(one.payload)

    async def delete(self, _scope: Any, _name: str, where: Where) -> None:
        [id_] = where.must[0].ids  # type: ignore[union-attr]  # of write_at_random
        if self.payloads.get(id_, {}).get("active") is True:
            del self.payloads[id_]

    async def set_payload(self, _scope: Any, _name: str, where: Where, payload: dict[str, Any]) -> None:
        [id_] = where.must[0].ids  # type: ignore[union-attr]  # of write_at_random
        if id_ in self.payloads:
            self.payloads[id_] |= payload

    async def set_vectors(self, _scope: Any, _name: str, tiers: Any) -> None:
        """Changes no payload."""


async def test_reading_goes_on_during_an_erasure(edge: EdgeStore) -> None:
    await edge.upsert(ACME, COLLECTION, [record(f"r{number}") for number in range(300)])
    erasing = asyncio.create_task(edge.erase_deleted(COLLECTION))
    while not erasing.done():
        assert await edge.count(ACME, COLLECTION, Where()) == 300
    assert await edge.count(ACME, COLLECTION, Where()) == 300


async def test_crash_before_the_copy_is_in_place_leaves_the_former_records(edge: EdgeStore, tmp_path: Path) -> None:
    await edge.upsert(ACME, COLLECTION, [record("a"), record("b")])
    folder = edge._folder
    copy = folder.begin_copy(COLLECTION, None)
    assert isinstance(copy, GrowingCopy)
    copy.copy_page()
    folder._copies.clear()  # as if the process had ended here
    await edge.close()
    assert (copy.target.folder / LEAVING).exists()
    reopened = EdgeStore(tmp_path / "vectors")
    assert not copy.target.folder.exists()
    assert len(await contents(reopened)) == 2
    await reopened.close()


async def test_crash_after_the_copy_is_in_place_removes_the_former_records(
    edge: EdgeStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await edge.upsert(ACME, COLLECTION, [record("doomed", note=SECRET), record("b")])
    await edge.delete(ACME, COLLECTION, Where().ids([id_of("doomed")]))
    with monkeypatch.context() as patch:
        patch.setattr("lithify.store.edge_folder.shutil.rmtree", lambda _path: None)
        await edge.erase_deleted(COLLECTION)
    await edge.close()
    assert holding(tmp_path, SECRET)
    reopened = EdgeStore(tmp_path / "vectors")
    assert holding(tmp_path, SECRET) == []
    assert len(await contents(reopened)) == 1
    await reopened.close()


async def test_copy_that_missed_a_write_is_given_up_and_the_write_is_not(edge: EdgeStore, tmp_path: Path) -> None:
    await edge.upsert(ACME, COLLECTION, [record("a")])
    copy = edge._folder.begin_copy(COLLECTION, None)
    assert copy is not None
    copy.copy_page()
    copy.target.engine.close()
    await edge.upsert(ACME, COLLECTION, [record("a", note="new")])
    with pytest.raises(Unavailable, match="try again"):
        copy.copy_page()
    edge._folder.abandon(copy)
    assert (await contents(edge))[id_of("a")][0]["note"] == "new"
    assert len(list((tmp_path / "vectors").glob("*~*"))) == 1


async def test_dropped_collection_is_not_erased_any_more(edge: EdgeStore, tmp_path: Path) -> None:
    await edge.upsert(ACME, COLLECTION, [record("a")])
    copy = edge._folder.begin_copy(COLLECTION, None)
    assert copy is not None
    await edge.drop(COLLECTION)
    assert list((tmp_path / "vectors").glob("*~*")) == []
