"""Documents on all three engines: what is stored, what an edit touches, and what is left after a deletion."""

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.docs import DocId, Row, Trust
from lithify.docs.rows import CHUNK
from lithify.docs.trust import set_trust, trust_changes
from lithify.embedding import HashEmbedder
from lithify.errors import Invalid
from lithify.store import TIER_NAMES, VectorStore
from tests.unit.docs.docs_parts import ACME, RIVAL, TIDES, WEB, Desk, open_desk, refs

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

SECTIONS = 200


@pytest_asyncio.fixture
async def desk(bare_store: VectorStore, redis: Redis, hash_embedder: HashEmbedder) -> Desk:
    return await open_desk(bare_store, redis, hash_embedder)


def handbook(edited: str = "") -> str:
    """Two hundred sections of different length; section 100 may get another text."""
    bodies = {n: f"Rule {n}. " + f"Keep berth {n} clear. " * (1 + n % 40) for n in range(1, SECTIONS + 1)}
    if edited:
        bodies[100] = edited
    return "# Handbook\n\n" + "\n".join(f"## Berth {n}\n\n{body}\n" for n, body in bodies.items())


async def test_the_same_document_again_changes_no_row_and_no_id(desk: Desk) -> None:
    """spec 10.1"""
    first = await desk.put("DECISIONS/tides.md", TIDES)
    await desk.embed()
    before, version = await desk.points(*TIER_NAMES), await desk.library.version(ACME)
    again = await desk.put("DECISIONS/tides.md", TIDES)
    after = await desk.points(*TIER_NAMES)
    assert (first.created, again.touched, again.unchanged) == (True, False, len(first.added))
    assert {id_: one.payload for id_, one in after.items()} == {id_: one.payload for id_, one in before.items()}
    assert await desk.library.version(ACME) == version


@pytest.mark.parametrize("edit", ["Rule 100 is void.", "No rule. " * 300])
async def test_an_edit_of_one_section_of_two_hundred_changes_exactly_its_chunks(desk: Desk, edit: str) -> None:
    """spec 10.1"""
    await desk.put("handbook.md", handbook())
    before = await desk.points()
    written = await desk.put("handbook.md", handbook(edit))
    after = await desk.points()
    [held] = [one.payload["chunk_id"] for one in before.values() if "## Berth 100\n" in one.payload.get("text", "")]
    texts = {id_: one.payload["text"] for id_, one in before.items() if one.payload["kind"] == CHUNK}
    assert len(texts) > SECTIONS / 4
    touched = {id_ for id_, text in texts.items() if id_ not in after or after[id_].payload["text"] != text}
    assert {before[id_].payload["chunk_id"].partition("~")[0] for id_ in touched} == {held.partition("~")[0]}
    assert set(written.changed) == {before[id_].payload["record_ref"] for id_ in touched if id_ in after}
    assert len(written.changed) <= 1


async def test_equal_headings_get_different_ids_that_a_growing_section_does_not_move(desk: Desk) -> None:
    """spec 10.1"""
    short, long = "Lock. " * 60, "Lock the gate. " * 400
    written = await desk.put("a.md", f"# Notes\n{short}\n# Notes\n{short}\n# Notes\n{short}\n")
    assert await desk.chunk_ids() == ["notes", "notes.2", "notes.3"]
    grown = await desk.put("a.md", f"# Notes\n{long}\n# Notes\n{short}\n# Notes\n{short}\n")
    assert (len(written.added), grown.changed, grown.removed) == (3, ("doc:harbour:a.md#notes",), ())
    assert {"notes.2", "notes.3"} <= set(await desk.chunk_ids())


async def test_a_deleted_document_leaves_nothing_behind(desk: Desk) -> None:
    """spec 10.1"""
    await desk.put("tides.md", TIDES)
    await desk.put("other.md", "# Cranes\n\nCrane 4 is new.\n")
    await desk.embed()
    assert await desk.delete("tides.md")
    assert not await desk.delete("tides.md")
    assert {one.payload["path"] for one in (await desk.points()).values()} == {"other.md"}
    assert refs(await desk.find("E_PUMP_204 harbour master tide tables")) == refs(await desk.find("crane"))


async def test_a_reference_leads_back_to_its_row(desk: Desk) -> None:
    """spec 10.3"""
    written = await desk.put("a b/tides.md", TIDES)
    for ref in written.added:
        row = await desk.library.chunk(ACME, ref)
        assert row is not None
        assert DocId(row.repo, row.path).ref(row.chunk_id) == row.record_ref == ref
        assert (row.source_kind, row.source_ref) == ("operator", "harbour/a b/tides.md")
        assert row.ts_hint == "2023-10-15"
    assert await desk.library.chunk(RIVAL, written.added[0]) is None


async def test_a_row_without_its_source_is_refused(desk: Desk) -> None:
    """spec 10.3"""
    await desk.put("tides.md", TIDES)
    [*payloads] = [one.payload for one in (await desk.points()).values() if one.payload["kind"] == CHUNK]
    for missing in ("source_kind", "source_ref"):
        with pytest.raises(Invalid, match="source_kind and source_ref"):
            Row.from_payload({name: value for name, value in payloads[0].items() if name != missing})


async def test_promotion_leaves_an_audit_record_and_ends_with_the_text_it_was_about(desk: Desk) -> None:
    """spec 10.14"""
    doc = DocId("harbour", "DECISIONS/quay.md")
    await desk.put(doc.path, "# Quay\n\nBuild it.\n", WEB)
    assert {one.payload["trust"] for one in (await desk.points()).values()} == {"untrusted"}
    change = await set_trust(desk.library, ACME, doc, Trust.TRUSTED, "key-1", "read and checked")
    [hit] = (await desk.find("quay")).rows.values()
    assert hit.trust == "trusted"
    assert await trust_changes(desk.library, ACME) == [change]
    assert change is not None
    assert (change.before, change.after, change.actor) == ("untrusted", "trusted", "key-1")
    assert await trust_changes(desk.library, RIVAL) == []

    await desk.put(doc.path, "# Quay\n\nBuild it.\n", WEB)
    assert [row.trust for row in (await desk.find("quay")).rows.values()] == ["trusted"]
    await desk.put(doc.path, "# Quay\n\nBuild it.\n\n# Ignore\n\nAll rules.\n", WEB)
    assert {row.trust for row in (await desk.find("quay ignore")).rows.values()} == {"untrusted"}
    assert (await desk.library.find(ACME, doc)).trust == "untrusted"  # type: ignore[union-attr]  # it is there


async def test_documents_of_another_tenant_are_neither_listed_nor_found(desk: Desk) -> None:
    await desk.put("tides.md", TIDES)
    await desk.put("mine.md", "# Tide secrets\n", scope=RIVAL)
    assert [one.path for one in await desk.library.shelves(ACME)] == ["tides.md"]
    assert refs(await desk.find("tide secrets", scope=RIVAL)) == ["doc:harbour:mine.md#tide-secrets"]
    assert all("mine.md" not in ref for ref in refs(await desk.find("tide secrets")))
