"""`lithify docs sync` against a listening service: sends what differs, removes what is gone, survives being killed."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
import pytest_asyncio

from lithify.cli.docs.sync import SyncRequest, SyncTotals, sync_folder
from lithify.cli.service import connect
from lithify.client import Memory
from lithify.docs.folder.reading import Allowlist, Folder
from lithify.errors import Invalid
from lithify.settings import Settings
from tests.integration.whole_app import whole_app
from tests.unit.docs.folder.test_git import git

PATIENCE_S = 60.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of documents and a service to bring them to."""

    folder: Path
    url: str

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    async def sync(self, since: str | None = None) -> SyncTotals:
        wanted = SyncRequest("notes", Folder(self.folder, Allowlist(("**/*.md",))), since)
        return await asyncio.to_thread(self._connected, lambda service: sync_folder(service, wanted))

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        return await asyncio.to_thread(self._connected, lambda service: service.request_json(method, path, body))

    def _connected(self, work: Callable[[Memory], T]) -> T:
        with connect(Settings(url=self.url)) as service:
            return work(service)

    async def stored(self) -> dict[str, str]:
        found: dict[str, str] = (await self.ask("GET", "/v1/docs/notes:digests"))["documents"]
        return found

    async def generation(self) -> str:
        answer = await self.ask("POST", "/v1/docs/search", {"query": "x", "mode": "lexical"})
        trace = await self.ask("GET", f"/v1/traces/{answer['trace_id']}")
        return str(trace["corpus"]["generation"])


@pytest_asyncio.fixture
async def place(redis_url: str, tmp_path: Path) -> AsyncIterator[Place]:
    folder = (tmp_path / "docs").resolve()
    folder.mkdir()
    async with whole_app(redis_url, tmp_path / "data") as app, app.listening() as url:
        yield Place(folder, url)


async def test_a_second_sync_touches_nothing_and_a_third_sends_what_differs(place: Place) -> None:
    for name in ("a.md", "b.md", "c.md"):
        place.write(name, f"# {name}\n\nwords")
    first = await place.sync()
    assert (first.added, first.unchanged, first.version) == (3, 0, None)
    generation = await place.generation()
    second = await place.sync()
    assert (second.added, second.changed, second.removed, second.unchanged) == (0, 0, 0, 3)
    assert await place.generation() == generation
    place.write("a.md", "# a.md\n\nother words")
    (place.folder / "b.md").unlink()
    third = await place.sync()
    assert (third.added, third.changed, third.removed, third.unchanged) == (0, 1, 1, 1)
    assert (await place.stored()).keys() == {"a.md", "c.md"}


async def test_the_commit_is_the_version_and_since_looks_at_changes_only(place: Place) -> None:
    git(place.folder, "init", "-q")
    place.write("a.md", "# A")
    place.write("b.md", "# B")
    git(place.folder, "add", ".")
    git(place.folder, "commit", "-q", "-m", "first")
    assert (await place.sync()).version == git(place.folder, "rev-parse", "HEAD")
    place.write("a.md", "# A again")
    git(place.folder, "commit", "-q", "-a", "-m", "second")
    totals = await place.sync(since="HEAD~1")
    assert (totals.changed, totals.unchanged) == (1, 0)
    [shelf] = (await place.ask("GET", "/v1/docs"))["repos"]
    assert shelf["version"] == git(place.folder, "rev-parse", "HEAD")


async def test_a_folder_with_nothing_of_what_is_stored_is_refused(place: Place) -> None:
    place.write("a.md", "# A")
    await place.sync()
    (place.folder / "a.md").unlink()
    with pytest.raises(Invalid, match="holds none of the 1 documents"):
        await place.sync()
    assert (await place.stored()).keys() == {"a.md"}


async def test_a_killed_sync_goes_on_where_it_was(place: Place) -> None:
    total = 640
    for number in range(total):
        place.write(f"{number}.md", f"# Document {number}\n\nIt tells of number {number}.\n")
    command = [sys.executable, "-m", "lithify.cli", "docs", "sync", str(place.folder), "--repo", "notes"]
    more = ["--include", "*.md", "--url", place.url]
    process = await asyncio.create_subprocess_exec(*command, *more, stderr=subprocess.DEVNULL)
    deadline, arrived = time.monotonic() + PATIENCE_S, 0
    while not arrived and time.monotonic() < deadline:
        arrived = len(await place.stored())
    process.send_signal(signal.SIGKILL)
    await process.wait()
    assert 0 < arrived < total
    rest = await place.sync()
    assert rest.added + rest.changed < total
    assert rest.added + rest.changed + rest.unchanged == total
    assert len(await place.stored()) == total
    assert "" not in (await place.stored()).values()
