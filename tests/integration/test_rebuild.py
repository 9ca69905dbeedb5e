"""A rebuild gives back the collection it replaces, keeps what no archive holds, and switches only what is verified."""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from lithify.archive import rewrite, whole_archive
from lithify.archive.checkpoint import Checkpoint, RebuildStep
from lithify.archive.segment import parse_segment, segment_paths
from lithify.cli.rebuild import describe_rebuild
from lithify.embedding import HashEmbedder, Vectors
from lithify.errors import Invalid, Unavailable
from lithify.events import TenantScope
from lithify.node.rebuild import NotVerified, RebuildReport
from lithify.store import EdgeStore, Record, Where, point_id
from lithify.store.memory_record import COLLECTION
from tests.integration.rebuild_parts import System, emptied, event_ids, hash_model, memorable, turns

EVENTS = turns(100)
MEMORABLE = memorable(EVENTS)
ACME = TenantScope("acme")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeStore]:
    store = EdgeStore(tmp_path_factory.mktemp("vectors"))
    yield store
    asyncio.run(store.close())


@pytest.fixture(scope="module")
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest_asyncio.fixture
async def system(store: EdgeStore, executor: ThreadPoolExecutor, tmp_path: Path) -> System:
    """Has stored and archived EVENTS."""
    system = System(store, tmp_path, hash_model(executor))
    await emptied(store, system.model)
    await system.processed(EVENTS)
    return system


async def test_the_rebuilt_collection_equals_the_original(system: System) -> None:
    original = await system.contents()
    assert event_ids(original) == MEMORABLE

    report = await system.rebuild().run()
    assert await system.contents() == original
    assert report.kept is not None
    assert await system.contents(report.kept) == original
    assert await system.collections() == [COLLECTION, report.kept]
    counts = (report.archived, report.verified, report.embedded, report.ignored)
    assert counts == (100, len(MEMORABLE), len(MEMORABLE), 100 - len(MEMORABLE))
    assert (report.refused, report.late, report.damage, report.carried) == (0, 0, [], {})


async def test_what_the_store_lost_comes_back(system: System) -> None:
    original = await system.contents()
    await system.store.delete(TenantScope("globex"), COLLECTION, Where())
    assert event_ids(await system.contents()) < MEMORABLE
    await system.rebuild().run()
    assert await system.contents() == original


async def test_a_turn_accepted_anew_says_the_new_and_keeps_its_place(system: System) -> None:
    first = EVENTS[0]
    await system.processed([replace(first, text="said once more", seq=900, ts=first.ts + 10**9)])
    await system.rebuild().run()
    [turn] = [payload for payload, _, _ in (await system.contents()).values() if payload["event_id"] == first.event_id]
    assert (turn["text"], turn["seq"], turn["ts"]) == ("said once more", first.seq, first.ts)


async def add_derived(system: System) -> None:
    """What gating and compaction leave behind, and a turn from before there was an archive."""
    payload = {"tenant": "acme", "user": "u0", "kind": "memory", "scope": "user", "text": "likes trams", "ts": 5}
    ones = {"l3": np.ones(384, np.float32)}
    promoted = Record(point_id("acme", "memory", "m1", "hash"), payload, ones)
    ancient = Record(point_id("acme", "turn", "old", "hash"), {**payload, "kind": "turn", "event_id": "old"}, ones)
    await system.store.upsert(ACME, COLLECTION, [promoted, ancient])
    state = {"active": False, "compacted_into": "s1", "novelty": 0.5, "superseded_by": "n1", "superseded_by_turn": "e9"}
    await system.store.set_payload(ACME, COLLECTION, Where().equals("event_id", "e0"), state)


async def test_what_no_archive_holds_is_carried_over(system: System) -> None:
    await add_derived(system)
    original = await system.contents()
    report = await system.rebuild().run()
    assert await system.contents() == original
    assert report.carried == {"memory": 1, "turn": 1, "state": 1}


async def test_archive_only_leaves_everything_else_behind(system: System) -> None:
    original = await system.contents()
    await add_derived(system)
    report = await system.rebuild(carry=False).run()
    assert await system.contents() == original
    assert report.carried == {}


async def test_damage_is_told_and_the_rest_is_rebuilt(system: System) -> None:
    original = await system.contents()
    [path] = segment_paths(system.archive)
    data = bytearray(path.read_bytes())
    victim = parse_segment(bytes(data)).blocks[0]
    data[victim.end - 1] ^= 0xFF
    path.write_bytes(data)

    report = await system.rebuild().run()
    [damage] = report.damage
    assert f"{path} at byte {victim.offset}" in damage
    assert report.verified == len(memorable(EVENTS[50:]))
    assert report.carried == {"turn": len(memorable(EVENTS[:50]))}
    assert await system.contents() == original


@pytest.mark.parametrize("fault", ["lost", "garbled"])
async def test_what_is_not_verified_is_not_switched(
    system: System, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    original = await system.contents()
    upsert = system.store.upsert

    async def faulty(scope: Any, collection: str, records: Sequence[Record], /) -> None:
        first = replace(records[0], payload={**records[0].payload, "text": "garbled"})
        await upsert(scope, collection, [*([first] if fault == "garbled" else []), *records[1:]])

    with monkeypatch.context() as patch:
        patch.setattr(system.store, "upsert", faulty)
        with pytest.raises(NotVerified, match="memories is as it was"):
            await system.rebuild().run()
    assert await system.contents() == original
    assert await system.collections() == [COLLECTION]
    await system.rebuild().run()
    assert await system.contents() == original


class Squeamish(HashEmbedder):
    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if any("number 31 " in text for text in texts):
            raise Invalid("not a single token")
        return super().embed_documents(texts)


async def test_an_event_that_cannot_be_embedded_does_not_stop_the_others(system: System) -> None:
    report = await system.rebuild(embedder=Squeamish(), carry=False).run()
    assert event_ids(await system.contents()) == MEMORABLE - {"e31"}
    assert (report.refused, report.verified) == (1, len(MEMORABLE) - 1)


@pytest.mark.parametrize("archived", [True, False], ids=["archived", "not archived yet"])
async def test_turns_stored_while_names_are_switched_are_not_lost(
    system: System, monkeypatch: pytest.MonkeyPatch, archived: bool
) -> None:
    before, after = turns(10, 100), turns(10, 110)
    switch = system.store.switch

    async def busy(name: str, other: str) -> None:
        await (system.processed(before) if archived else system.embedded(before))
        await switch(name, other)
        await system.embedded(after)

    monkeypatch.setattr(system.store, "switch", busy)
    report = await system.rebuild().run()
    found = await system.contents()
    assert event_ids(found) == memorable([*EVENTS, *before, *after])
    assert {payload["kind"] for payload, _, _ in found.values()} == {"turn"}, "the marker is gone"
    late = len(memorable(before))
    assert (report.late, report.carried.get("turn", 0)) == ((late, 0) if archived else (0, late))


async def test_what_changes_after_the_switch_is_not_overwritten(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch = system.store.switch

    async def busy(name: str, other: str) -> None:
        await switch(name, other)
        await add_derived(system)

    monkeypatch.setattr(system.store, "switch", busy)
    await system.rebuild().run()
    [(payload, _, _)] = [item for item in (await system.contents()).values() if item[0].get("event_id") == "e0"]
    assert (payload["active"], payload["compacted_into"], payload["novelty"]) == (False, "s1", 0.5)
    assert (payload["superseded_by"], payload["superseded_by_turn"]) == ("n1", "e9")


async def test_one_rebuild_at_a_time(system: System) -> None:
    with whole_archive(system.archive), pytest.raises(Unavailable, match="try later"):
        await system.rebuild().run()


class Died(BaseException):
    """Stands for the death of the process: nothing catches it, and nothing after it is done."""


async def die_at(system: System, point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash_point(name: str) -> None:
        if name == point:
            raise Died

    with monkeypatch.context() as patch:
        patch.setattr("lithify.node.rebuild.crash_point", crash_point)
        with pytest.raises(Died):
            await system.rebuild().run()


async def test_dying_while_embedding_costs_only_what_was_not_stored(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    await die_at(system, "rebuild_batch", monkeypatch)
    report = await system.rebuild().run()
    assert report.embedded == len(MEMORABLE) - len(memorable(EVENTS[:16]))
    assert report.verified == len(MEMORABLE)


@pytest.mark.parametrize("point", ["rebuild_built", "rebuild_before_switch", "rebuild_after_switch"])
async def test_dying_around_the_switch_switches_once(
    system: System, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    original = await system.contents()
    # So that the former and the rebuilt collection can be told apart.
    await system.store.delete(TenantScope("globex"), COLLECTION, Where())
    former = await system.contents()
    await die_at(system, point, monkeypatch)
    in_use = {id_ for id_, (payload, _, _) in (await system.contents()).items() if payload["kind"] == "turn"}
    assert in_use == set(original if point == "rebuild_after_switch" else former)

    report = await system.rebuild().run()
    assert report.embedded == 0
    assert await system.contents() == original
    assert report.kept is not None
    assert await system.contents(report.kept) == former
    assert Checkpoint.read(system.archive) is None


async def test_dying_after_an_empty_former_collection_was_dropped_is_no_dead_end(system: System) -> None:
    Checkpoint("memories-rebuild-1", system.model.embedder.fingerprint, RebuildStep.SETTLING).write(system.archive)
    report = await system.rebuild().run()
    assert (report.kept, report.embedded) == (None, 0)
    assert event_ids(await system.contents()) == MEMORABLE
    assert Checkpoint.read(system.archive) is None


async def test_what_was_forgotten_since_the_death_does_not_come_back(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    await die_at(system, "rebuild_built", monkeypatch)
    for tenant in ("acme", "globex"):
        await system.store.delete(TenantScope(tenant, "u2"), COLLECTION, Where())
    rewrite(system.archive, lambda event: event.user != "u2")

    await system.rebuild().run()
    assert event_ids(await system.contents()) == memorable([event for event in EVENTS if event.user != "u2"])


async def test_a_build_begun_with_another_model_starts_over(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    await die_at(system, "rebuild_built", monkeypatch)
    begun = Checkpoint.read(system.archive)
    assert begun is not None
    replace(begun, fingerprint="another model").write(system.archive)

    report = await system.rebuild().run()
    assert report.embedded == len(MEMORABLE)
    assert begun.collection not in await system.collections()


def test_the_summary_says_how_to_remove_what_is_kept() -> None:
    told = describe_rebuild(
        RebuildReport(archived=3, verified=2, ignored=1, carried={"memory": 4}, kept="memories-rebuild-1")
    )
    assert "2 turns verified" in told
    assert "4 memory" in told
    assert "memories-rebuild-1; remove them with `lithify rebuild --drop-old`" in told
    assert "drop-old" not in describe_rebuild(RebuildReport())
