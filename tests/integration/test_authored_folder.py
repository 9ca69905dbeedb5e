"""A watched folder: its files are the documents, through changes, mistakes and outages."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from lithify.authored import MAX_BYTES, AuthoredDocuments, FolderWatch, Origin, Reserve, check_startup
from lithify.embedding import HashEmbedder
from lithify.errors import Misconfigured, Unavailable
from lithify.store import VectorStore
from lithify.streams.connection import end_tasks
from lithify.streams.generations import AUTHORED, read_generations
from tests.unit.authored.authored_parts import (
    ACME,
    CORE,
    FragileStore,
    documents_on,
    on_store,
    put,
    reader_on,
    rules_shown,
    stored_nodes,
)

pytestmark = pytest.mark.parametrize("backend", ["edge"], indirect=True)

PATIENCE_S = 20
PUT = ("upsert", "upsert", "delete", "set_payload")  # what one document costs the store


@pytest.fixture
def documents(memories: VectorStore, redis: Redis, hash_embedder: HashEmbedder) -> AuthoredDocuments:
    return documents_on(memories, redis, hash_embedder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


async def synced(documents: AuthoredDocuments, folder: Path) -> FolderWatch:
    watch = FolderWatch(folder, documents, ACME)
    await watch.sync()
    return watch


async def text_of(documents: AuthoredDocuments, name: str) -> str | None:
    found = await documents.find(ACME, name)
    return found.text if found else None


async def generation(documents: AuthoredDocuments) -> int:
    [number] = await read_generations(documents.redis, ACME.tenant, [AUTHORED])
    return number


async def holds(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in code that knows no tests
            await asyncio.sleep(0.01)


async def seen(documents: AuthoredDocuments, name: str, text: str | None, watch: FolderWatch | None = None) -> None:
    """Waits until the document has this text; looks at the folder meanwhile if nobody else does."""
    async with asyncio.timeout(PATIENCE_S):
        while await text_of(documents, name) != text:
            if watch is not None:
                await watch.look()
            await asyncio.sleep(0.01)


async def test_at_start_the_documents_become_the_files(documents: AuthoredDocuments, folder: Path) -> None:
    await documents.put(ACME, "removed.md", b"- old\n", Origin.FOLDER)
    await put(documents, "by-hand.md", "kept")
    (folder / "AGENTS.md").write_text("- one\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "AGENTS.md").write_text("- no rule: its name is not the core one\n")
    await synced(documents, folder)
    assert [document.name for document in await documents.all(ACME)] == ["AGENTS.md", "by-hand.md", "sub/AGENTS.md"]
    assert await rules_shown(reader_on(documents)) == (["one"], [])


async def test_a_start_without_changes_writes_nothing(documents: AuthoredDocuments, folder: Path) -> None:
    (folder / "AGENTS.md").write_text("- one\n")
    await synced(documents, folder)
    before = await generation(documents)
    watch = await synced(documents, folder)
    await watch.look()
    assert await generation(documents) == before


async def test_two_changes_within_the_debounce_are_one_write(documents: AuthoredDocuments, folder: Path) -> None:
    """spec 11.4"""
    file = folder / "AGENTS.md"
    file.write_text("- one\n")
    watch = await synced(documents, folder)
    before = await generation(documents)
    file.write_text("- two, half wri")
    await watch.look()
    file.write_text("- two, whole\n")
    await seen(documents, "AGENTS.md", "- two, whole\n", watch)
    assert await generation(documents) == before + 1


async def test_a_touched_file_does_not_even_reach_the_store(documents: AuthoredDocuments, folder: Path) -> None:
    """spec 11.4"""
    store = FragileStore(documents.store)
    (folder / "a.md").write_text("one")
    watch = await synced(on_store(documents, store), folder)
    store.asked.clear()
    os.utime(folder / "a.md", ns=(1, 1))
    (folder / "b.md").write_text("later in the same look")
    await seen(documents, "b.md", "later in the same look", watch)
    assert store.asked == ["fetch", *PUT]


async def test_a_deleted_file_takes_its_records_along(documents: AuthoredDocuments, folder: Path) -> None:
    """spec 11.4"""
    (folder / "AGENTS.md").write_text("- one\n\ntext\n")
    watch = await synced(documents, folder)
    (folder / "AGENTS.md").unlink()
    await seen(documents, "AGENTS.md", None, watch)
    assert await stored_nodes(documents.store) == []
    assert await rules_shown(reader_on(documents)) == ([], [])


@pytest.mark.parametrize("mistake", [b"\xff", b"x" * (MAX_BYTES + 1), b"- " + b"x" * 1604])
async def test_a_file_that_cannot_be_a_document_leaves_the_earlier_version_in_force(
    documents: AuthoredDocuments, folder: Path, mistake: bytes
) -> None:
    guarded = documents_on(documents.store, documents.redis, documents.embedder, reserve=Reserve(1000))
    (folder / "AGENTS.md").write_text("- one\n")
    watch = await synced(guarded, folder)
    (folder / "AGENTS.md").write_bytes(mistake)
    (folder / "z.md").write_text("handled after it")
    await seen(documents, "z.md", "handled after it", watch)
    assert await rules_shown(reader_on(documents)) == (["one"], [])


async def test_names_the_store_cannot_take_do_not_stop_the_others(documents: AuthoredDocuments, folder: Path) -> None:
    (folder / "a#1.md").write_text("- one\n")
    (folder / "b.md").write_text("two")
    await synced(documents, folder)
    assert [document.name for document in await documents.all(ACME)] == ["b.md"]


async def test_rules_that_outgrow_the_reserve_at_start_are_left_to_the_startup_check(
    documents: AuthoredDocuments, folder: Path
) -> None:
    reserve = Reserve(1000)
    guarded = documents_on(documents.store, documents.redis, documents.embedder, reserve=reserve)
    (folder / "AGENTS.md").write_text("- " + "x" * 1604)
    await synced(guarded, folder)
    with pytest.raises(Misconfigured, match=r"403 tokens as they are shown, a prompt of 1000 has .*AGENTS\.md"):
        await check_startup(documents.store, CORE, reserve)


@asynccontextmanager
async def following(watch: FolderWatch) -> AsyncIterator[None]:
    task = asyncio.create_task(watch.run())
    yield
    await end_tasks([task])


async def test_an_outage_is_waited_out_and_the_change_is_not_lost(documents: AuthoredDocuments, folder: Path) -> None:
    store = FragileStore(documents.store)
    watch = await synced(on_store(documents, store), folder)
    store.asked.clear()
    store.away = True
    (folder / "AGENTS.md").write_text("- one\n")
    async with following(watch):
        await holds(lambda: bool(store.asked))
        store.away = False
        await seen(documents, "AGENTS.md", "- one\n")


async def test_a_folder_that_is_lost_deletes_nothing(documents: AuthoredDocuments, folder: Path) -> None:
    root = folder / "mounted"
    root.mkdir()
    (root / "AGENTS.md").write_text("- one\n")
    watch = await synced(documents, root)
    root.rename(folder / "elsewhere")
    with pytest.raises(Unavailable, match="mounted cannot be read"):
        await watch.look()
    assert await rules_shown(reader_on(documents)) == (["one"], [])


async def test_a_configured_folder_must_exist_at_start(documents: AuthoredDocuments, folder: Path) -> None:
    with pytest.raises(Misconfigured, match="authored_dir"):
        await FolderWatch(folder / "nowhere", documents, ACME).sync()
