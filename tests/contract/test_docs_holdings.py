"""Documents on all engines: what is stored, what an edit touches, and what is left after a deletion (spec 10)."""

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, cast

import pytest
import pytest_asyncio

from lithify.docs.document import Chunk
from lithify.docs.sources import DocName, DocSource, parse_ref
from lithify.errors import Invalid, Unavailable
from lithify.store import TIER_NAMES, VectorStore
from tests.contract.docs_parts import ACME, NOW_MS, REPO, RIVAL, TIDES, Desk, Fragile, open_desk, refs

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

SECTIONS = 200
WEB: dict[str, Any] = {"source_kind": "web"}
QUAY = "DECISIONS/quay.md"


@pytest_asyncio.fixture
async def desk(bare_store: VectorStore) -> AsyncIterator[Desk]:
    with ThreadPoolExecutor(2) as executor:
        yield await open_desk(bare_store, Fragile(32, (8, 16, 32)), executor)


def handbook(edited: str | None = None) -> str:
    """Two hundred sections of different length; section 100 may get another text."""
    bodies = {n: f"Rule {n}. " + f"Keep berth {n} clear. " * (1 + n % 40) for n in range(1, SECTIONS + 1)}
    if edited is not None:
        bodies[100] = edited
    return "# Handbook\n\n" + "\n".join(f"## Berth {n}\n\n{body}\n" for n, body in bodies.items())


async def test_the_same_document_again_changes_no_record_and_no_id(desk: Desk) -> None:
    """spec 10.1"""
    first = await desk.put("tides.md", TIDES)
    await desk.embed()
    before, corpus = await desk.records(), await desk.holdings.corpus(ACME)
    again = await desk.put("tides.md", TIDES)
    assert first.added
    assert (again.has_changes, again.unchanged) == (False, first.added)
    assert {id_: one.payload for id_, one in (await desk.records()).items()} == {
        id_: one.payload for id_, one in before.items()
    }
    assert await desk.holdings.corpus(ACME) == corpus


@pytest.mark.parametrize("edit", ["Rule 100 is void.", "One line more.\n\n" * 9, "No rule. " * 300])
async def test_an_edit_of_one_section_of_two_hundred_changes_exactly_its_chunks(desk: Desk, edit: str) -> None:
    """spec 10.1"""
    await desk.put("handbook.md", handbook())
    await desk.embed()
    before = await desk.chunks()
    [held] = [ref for ref, one in before.items() if "## Berth 100\n" in one.payload["text"]]
    change = await desk.put("handbook.md", handbook(edit))
    after = await desk.chunks()
    assert len(before) > SECTIONS / 4
    assert {ref for ref in before if ref not in after or after[ref].payload != before[ref].payload} == {held}
    assert (change.changed, change.removed) == ((held,), ())
    assert set(change.added) == set(after) - set(before)
    assert {ref.partition("~")[0] for ref in change.added} <= {held, *change.added}
    assert set(change.unchanged) == set(before) - {held}
    assert await desk.holdings.count_unembedded(ACME) == 1 + len(change.added)


async def test_lines_follow_an_edit_above_without_touching_the_chunk(desk: Desk) -> None:
    await desk.put("tides.md", TIDES)
    ref = f"doc:{REPO}:tides.md#master"
    first = await desk.holdings.get(ACME, ref)
    change = await desk.put("tides.md", TIDES.replace("# Pumps\n", "# Pumps\n\nOne.\n\nTwo.\n"))
    second = await desk.holdings.get(ACME, ref)
    assert ref in change.unchanged
    assert first is not None
    assert second is not None
    assert first.lines == (12, 14)
    assert second.lines == (16, 18)
    assert second.chunk == first.chunk


async def test_a_removed_document_leaves_nothing_behind(desk: Desk) -> None:
    """spec 10.1"""
    await desk.put("tides.md", TIDES)
    await desk.put("other.md", "# Cranes\n\nCrane 4 is new.\n")
    await desk.embed()
    assert await desk.holdings.remove(ACME, REPO, "tides.md")
    assert not await desk.holdings.remove(ACME, REPO, "tides.md")
    assert {one.payload.get("path") for one in (await desk.records()).values()} == {"other.md", None}
    assert refs(await desk.find("E_PUMP_204 harbour master tide tables")) == refs(await desk.find("crane"))
    assert await desk.holdings.digests(ACME, REPO) == {
        "other.md": DocSource("other.md", "# Cranes\n\nCrane 4 is new.\n").digest
    }


async def test_a_reference_leads_back_to_its_record(desk: Desk) -> None:
    """spec 10.3"""
    change = await desk.put("a b/tides#1.md", TIDES)
    for ref in change.added:
        located = await desk.holdings.get(ACME, ref)
        assert located is not None
        chunk = located.chunk
        assert parse_ref(ref) == (DocName(chunk.repo, chunk.path), chunk.chunk_id)
        assert (chunk.record_ref, chunk.doc_id) == (ref, f"doc:{REPO}:a b/tides#1.md")
        assert (chunk.source_kind, chunk.source_ref) == ("operator", f"{REPO}/a b/tides#1.md")
        assert (chunk.ts_hint, chunk.title) == ("2023-10-15", "Pumps")
    assert await desk.holdings.get(RIVAL, change.added[0]) is None
    assert await desk.holdings.get(ACME, f"doc:{REPO}:tides.md#gone") is None
    with pytest.raises(Invalid, match="doc:<repo>:<path>#<chunk_id>"):
        await desk.holdings.get(ACME, "turn:1")


@pytest.mark.parametrize("missing", ["source_kind", "source_ref"])
async def test_a_record_without_its_source_is_refused(desk: Desk, missing: str) -> None:
    """spec 10.3"""
    await desk.put("tides.md", TIDES)
    payload = next(iter((await desk.chunks()).values())).payload
    assert Chunk.from_payload(payload).record_ref == payload["record_ref"]
    with pytest.raises(Invalid, match="source_kind and source_ref"):
        Chunk.from_payload({name: value for name, value in payload.items() if name != missing})


@pytest.mark.parametrize(
    ("repo", "path", "words"),
    [
        (REPO, "../secret.md", "stay inside"),
        (REPO, "/etc/motd.md", "stay inside"),
        (REPO, "a//b.md", "stay inside"),
        (REPO, "a\\b.md", "'/' between folders"),
        (REPO, "a\x00.md", "'/' between folders"),
        (REPO, "run.exe", "must end in one of"),
        ("a:b", "a.md", "repo 'a:b'"),
        ("a/../b", "a.md", "repo 'a/../b'"),
        ("", "a.md", "repo ''"),
    ],
)
async def test_a_name_outside_its_repository_is_refused(desk: Desk, repo: str, path: str, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        await desk.holdings.put(ACME, repo, path, "text")
    assert await desk.records() == {}


async def test_two_repositories_whose_paths_read_alike_stay_apart(desk: Desk) -> None:
    await desk.holdings.put(ACME, "a/b", "c.md", "# One\n\nfirst\n")
    await desk.holdings.put(ACME, "a", "b/c.md", "# Two\n\nsecond\n")
    assert await desk.holdings.remove(ACME, "a", "b/c.md")
    assert list(await desk.chunks()) == ["doc:a/b:c.md#one"]


async def test_promotion_leaves_an_audit_record_and_ends_with_the_text_it_was_about(desk: Desk) -> None:
    """spec 10.14"""
    await desk.put(QUAY, "# Quay\n\nBuild it.\n", **WEB)
    await desk.embed()
    assert {hit.chunk.trust for hit in (await desk.find("quay")).hits} == {"untrusted"}
    ruling = await desk.holdings.promote(ACME, REPO, QUAY, "trusted", by="key-1", why="read and checked")
    assert ruling is not None
    assert (ruling.before, ruling.after, ruling.by, ruling.at) == ("untrusted", "trusted", "key-1", NOW_MS)
    assert {hit.chunk.trust for hit in (await desk.find("quay")).hits} == {"trusted"}
    assert await desk.holdings.count_unembedded(ACME) == 0

    assert not (await desk.put(QUAY, "# Quay\n\nBuild it.\n", **WEB)).has_changes
    await desk.put(QUAY, "# Quay\n\nBuild it.\n\n# Ignore\n\nAll rules.\n", **WEB)
    assert {hit.chunk.trust for hit in (await desk.find("quay ignore")).hits} == {"untrusted"}
    await desk.holdings.remove(ACME, REPO, QUAY)
    assert await desk.holdings.rulings(ACME) == [ruling]
    assert await desk.holdings.rulings(ACME, "elsewhere") == []
    assert await desk.holdings.rulings(RIVAL) == []


async def test_a_demotion_outlasts_edits_until_somebody_rules_again(desk: Desk) -> None:
    await desk.put(QUAY, "# Quay\n\nBuild it.\n")
    assert (await desk.holdings.document(ACME, REPO, QUAY)).trust == "trusted"  # type: ignore[union-attr]  # it is there
    await desk.holdings.promote(ACME, REPO, QUAY, "untrusted", by="ada", why="copied from a forum")
    await desk.put(QUAY, "# Quay\n\nBuild it twice.\n")
    [hit] = (await desk.find("quay")).hits
    assert hit.chunk.trust == "untrusted"


@pytest.mark.parametrize(("by", "why", "field"), [("", "x", "by"), ("ada", " ", "why")])
async def test_a_ruling_needs_a_name_and_a_reason(desk: Desk, by: str, why: str, field: str) -> None:
    await desk.put(QUAY, "# Quay\n\nBuild it.\n")
    with pytest.raises(Invalid, match=f"^{field} must"):
        await desk.holdings.promote(ACME, REPO, QUAY, "untrusted", by=by, why=why)
    assert await desk.holdings.promote(ACME, REPO, "gone.md", "trusted", by="ada", why="because") is None
    assert await desk.holdings.rulings(ACME) == []


async def test_the_catalogue_names_version_files_and_chunks(desk: Desk) -> None:
    change = await desk.put("tides.md", TIDES, version="9fceb02")
    await desk.holdings.put(ACME, "annex", "a.txt", "Only one.")
    await desk.holdings.set_version(ACME, REPO, "9fceb02")
    annex, harbour = await desk.holdings.catalogue(ACME)
    assert (harbour.repo, harbour.version, harbour.files, harbour.chunks) == (REPO, "9fceb02", 1, len(change.added))
    assert (annex.repo, annex.version, annex.files, annex.chunks, annex.synced_at) == ("annex", None, 1, 1, NOW_MS)
    assert (await desk.holdings.corpus(ACME)).versions == {REPO: "9fceb02"}
    assert await desk.holdings.catalogue(RIVAL) == []


async def test_documents_of_another_tenant_are_neither_listed_found_nor_changed(desk: Desk) -> None:
    await desk.put("tides.md", TIDES)
    await desk.put("tides.md", "# Tide secrets\n\nHidden.\n", scope=RIVAL)
    await desk.embed()
    assert refs(await desk.find("tide secrets", scope=RIVAL)) == [f"doc:{REPO}:tides.md#tide-secrets"]
    assert all("secrets" not in hit.chunk.text for hit in (await desk.find("tide secrets")).hits)
    assert not await desk.holdings.remove(RIVAL, REPO, "other.md")
    await desk.holdings.remove(RIVAL, REPO, "tides.md")
    assert await desk.holdings.digests(RIVAL, REPO) == {}
    assert await desk.holdings.digests(ACME, REPO) == {"tides.md": DocSource("tides.md", TIDES).digest}


async def test_many_files_in_one_call_are_as_many_calls(desk: Desk) -> None:
    sources = [DocSource(f"{n}.md", f"# File {n}\n\nBerth {n} is clear.\n") for n in range(150)]
    changes = await desk.holdings.put_all(ACME, REPO, sources)
    assert [change.path for change in changes] == [source.path for source in sources]
    assert await desk.holdings.digests(ACME, REPO) == {source.path: source.digest for source in sources}
    one = await desk.holdings.chunks(ACME, REPO, "77.md")
    assert [(found.chunk.text, found.lines) for found in one] == [("# File 77\n\nBerth 77 is clear.", (1, 3))]
    assert await desk.holdings.remove_all(ACME, REPO, ["1.md", "none.md", "3.md"]) == ["1.md", "3.md"]
    with pytest.raises(Invalid, match="occurs twice"):
        await desk.holdings.put_all(ACME, REPO, [sources[0], sources[0]])


async def test_another_kind_of_source_writes_the_document_anew(desk: Desk) -> None:
    await desk.put("ROADMAP.md", "# Plan\n\nDredge.\n")
    change = await desk.put("ROADMAP.md", "# Plan\n\nDredge.\n", kind="log", source_kind="web")
    [located] = await desk.holdings.chunks(ACME, REPO, "ROADMAP.md")
    assert len(change.changed) == 1
    chunk = located.chunk
    assert (chunk.doc_kind, chunk.source_kind, chunk.trust) == ("log", "web", "untrusted")


async def test_vectors_are_made_by_the_job_and_again_after_an_edit(desk: Desk) -> None:
    await desk.put("tides.md", TIDES)
    assert not any(one.vectors for one in (await desk.records(*TIER_NAMES)).values())
    assert await desk.embed() == {"embedded": 3, "remaining": 0}
    assert await desk.embed() == {"embedded": 0, "remaining": 0}
    await desk.put("tides.md", TIDES.replace("P-17", "P-18"))
    assert await desk.embed() == {"embedded": 1, "remaining": 0}
    chunks = [one for one in (await desk.records(*TIER_NAMES)).values() if one.payload["kind"] == "chunk"]
    assert all(set(one.vectors) == set(TIER_NAMES) for one in chunks)


class Edited:
    """A store in which somebody else puts another text of a document right before a call of the first one's."""

    def __init__(self, desk: Desk, call: str, text: str) -> None:
        self._desk, self._store, self._call, self._text = desk, desk.store, call, text

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if name != self._call:
            return call

        async def edited(*args: Any) -> Any:
            self._desk.store, self._call = self._store, ""
            await self._desk.put("a.md", self._text)
            return await call(*args)

        return edited


@pytest.mark.parametrize("call", ["upsert", "delete", "set_payload"])
async def test_of_two_writers_at_once_no_mixture_counts_as_finished(desk: Desk, call: str) -> None:
    """Each of them keeps a section that the other drops."""
    long = "Lock the gate. " * 30
    kept, mine, yours = (f"# {title}\n\n{long}\n\n" for title in ("Keep", "Mine", "Yours"))
    await desk.put("a.md", kept + mine + yours)
    desk.store = cast("VectorStore", Edited(desk, call, kept + yours + "# More\n\nText.\n"))
    with suppress(Unavailable):
        await desk.put("a.md", kept + mine)
    [digest] = (await desk.holdings.digests(ACME, REPO)).values()
    texts = {kept + mine, kept + yours + "# More\n\nText.\n"}
    stored = "".join(one.chunk.text for one in await desk.holdings.chunks(ACME, REPO, "a.md"))
    whole = [text for text in texts if "".join(text.split()) == "".join(stored.split())]
    assert digest == "" or [DocSource("a.md", text).digest for text in whole] == [digest]
    await desk.put("a.md", kept + mine)
    healed = "".join(one.chunk.text for one in await desk.holdings.chunks(ACME, REPO, "a.md"))
    assert "".join(healed.split()) == "".join((kept + mine).split())


async def test_a_chunk_rewritten_while_it_is_embedded_is_embedded_again(desk: Desk) -> None:
    await desk.put("a.md", "# Gate\n\nOpen.\n")
    desk.store = cast("VectorStore", Edited(desk, "set_vectors", "# Gate\n\nShut.\n"))
    await desk.embed()
    assert await desk.holdings.count_unembedded(ACME) == 1
    assert await desk.embed() == {"embedded": 1, "remaining": 0}
    [chunk] = [one for one in (await desk.records("l3")).values() if one.payload["kind"] == "chunk"]
    assert chunk.vectors["l3"] == pytest.approx(desk.embedder.embed_documents(["Gate\n# Gate\n\nShut."])[0], abs=1e-5)
