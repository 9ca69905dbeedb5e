"""One test per window in which a write of a document may die: the same call finishes it, and nothing is left over."""

import asyncio
import sys
from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis

from lithify.docs import Origin
from lithify.docs.folder import Folder
from lithify.docs.plan import plan_sync
from lithify.docs.survey import survey
from lithify.streams.crash import EXIT_CODE
from tests.integration.compaction_process import EMBEDDER, open_store
from tests.integration.docs_process import DOC, NEW
from tests.unit.docs.docs_parts import ACME, Desk, open_desk, refs

OLD: Final = "# Quay\n\nThe old quay.\n\n# Crane\n\n" + "A crane. " * 60
DIES_WITHIN_S: Final = 60.0


@pytest.fixture(params=["edge", pytest.param("server", marks=pytest.mark.server)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "vectors") if request.param == "edge" else str(request.getfixturevalue("server_url"))


async def store_old(place: str, redis: Redis) -> None:
    async with open_store(place) as store:
        desk = await open_desk(store, redis, EMBEDDER)
        await desk.library.put(ACME, DOC, OLD.encode(), Origin())


async def die_at(window: str, redis_url: str, place: str, action: str) -> None:
    command = (sys.executable, "-m", "tests.integration.docs_process", redis_url, place, action, window)
    async with asyncio.timeout(DIES_WITHIN_S):
        process = await asyncio.create_subprocess_exec(*command)
        assert await process.wait() == EXIT_CODE


async def next_plan(desk: Desk, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the next sync of a folder would do about the document."""
    seen = survey(Folder(folder, ["*.md"]), DOC.repo, Origin(), [DOC.path])
    plan = plan_sync(seen, {one.path: one.content_hash for one in await desk.library.shelves(ACME, DOC.repo)})
    return plan.put, plan.delete


@pytest.mark.parametrize("window", ["docs_chunks_written", "docs_chunks_replaced"])
async def test_a_put_that_dies_is_repeated_by_the_next_sync(
    window: str, place: str, redis: Redis, redis_url: str, tmp_path: Path
) -> None:
    await store_old(place, redis)
    await die_at(window, redis_url, place, "put")
    files = tmp_path / "files"
    files.mkdir()
    (files / DOC.path).write_text(NEW, "utf-8")
    async with open_store(place) as store:
        desk = Desk(store, redis, EMBEDDER)
        assert refs(await desk.find("quay"))
        assert await next_plan(desk, files) == ((DOC.path,), ())
        await desk.library.put(ACME, DOC, NEW.encode(), Origin())
        assert await next_plan(desk, files) == ((), ())
        assert await desk.chunk_ids() == ["depth", "quay"]
        assert refs(await desk.find("crane", mode="lexical")) == []


async def test_a_deletion_that_dies_is_repeated_by_the_next_sync(
    place: str, redis: Redis, redis_url: str, tmp_path: Path
) -> None:
    await store_old(place, redis)
    await die_at("docs_chunks_deleted", redis_url, place, "delete")
    async with open_store(place) as store:
        desk = Desk(store, redis, EMBEDDER)
        assert await next_plan(desk, tmp_path / "nothing") == ((), (DOC.path,))
        assert (await desk.library.put(ACME, DOC, OLD.encode(), Origin())).added
        assert await desk.library.delete(ACME, DOC)
        assert await desk.points() == {}
