"""`lithify docs`: sync, search and bench against a service on a real port."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.assembly.docs_routes import docs_router
from lithify.cli import docs, docs_sync
from lithify.cli.api import Api
from lithify.embedding import HashEmbedder
from lithify.errors import Invalid
from lithify.events import TenantScope
from lithify.events.scope import DEFAULT_TENANT
from lithify.http.access import Access
from lithify.settings import Settings
from lithify.store import VectorStore
from tests.integration.docs_service import Service, open_service
from tests.integration.terminal import served, typed
from tests.unit.docs.docs_parts import commit, write

pytestmark = pytest.mark.parametrize("backend", ["edge"], indirect=True)

HOME: Final = TenantScope(DEFAULT_TENANT)
FILES: Final = 300
PATIENCE_S: Final = 60


@pytest_asyncio.fixture
async def service(bare_store: VectorStore, redis: Redis, hash_embedder: HashEmbedder) -> Service:
    return await open_service(bare_store, redis, hash_embedder)


@pytest_asyncio.fixture
async def url(service: Service) -> AsyncIterator[str]:
    async with served(docs_router(service.desk, Access.open())) as address:
        yield address


@pytest.fixture(autouse=True)
def tidy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A command's connection ends with its process; here the process lives on."""
    opened: list[Api] = []

    def open_api(settings: Settings) -> Api:
        opened.append(Api(settings))
        return opened[-1]

    monkeypatch.setattr(docs, "Api", open_api)
    yield
    for api in opened:
        api._http.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    for number in range(3):
        write(root, f"DECISIONS/{number}.md", f"# Decision {number}\n\nBerth {number} is closed.\n")
    write(root, "README.md", "# Not indexed\n")
    return root


async def sync(url: str, folder: Path, *words: str) -> dict[str, Any]:
    result = await typed(docs.app, url, "sync", str(folder), "--repo", "harbour", "--json", *words)
    assert result.exception is None, result.output
    answer: dict[str, Any] = orjson.loads(result.stdout)
    return answer


async def stored(service: Service) -> list[str]:
    return [one.path for one in await service.desk.library.shelves(HOME)]


async def test_a_folder_is_stored_once_and_followed(service: Service, url: str, folder: Path) -> None:
    first = await sync(url, folder)
    assert (first["put"], first["deleted"], first["unchanged"]) == (3, 0, 0)
    points, asked = await service.parts.points(), service.asked
    second = await sync(url, folder)
    assert (second["put"], second["deleted"], second["unchanged"]) == (0, 0, 3)
    assert (await service.parts.points(), service.asked) == (points, asked)

    (folder / "DECISIONS/0.md").unlink()
    write(folder, "DECISIONS/1.md", "# Decision 1\n\nBerth 1 is open.\n")
    third = await sync(url, folder)
    assert (third["put"], third["deleted"], third["unchanged"]) == (1, 1, 1)
    assert await stored(service) == ["DECISIONS/1.md", "DECISIONS/2.md"]


async def test_globs_and_the_kind_are_the_callers(service: Service, url: str, folder: Path) -> None:
    await sync(url, folder, "--include", "*.md", "--kind", "spec", "--source", "import")
    shelves = await service.desk.library.shelves(HOME)
    assert [one.path for one in shelves][-1] == "README.md"
    assert {(one.doc_kind, one.source_kind, one.trust) for one in shelves} == {("spec", "import", "untrusted")}


async def test_git_limits_the_sync_to_what_changed_and_names_the_commit(
    service: Service, url: str, folder: Path
) -> None:
    first = commit(folder)
    await sync(url, folder)
    assert {one.version for one in await service.desk.library.shelves(HOME)} == {first}
    write(folder, "DECISIONS/1.md", "# Other\n")
    (folder / "DECISIONS/2.md").unlink()
    second = commit(folder)
    answer = await sync(url, folder, "--since", first)
    assert (answer["put"], answer["deleted"], answer["unchanged"]) == (1, 1, 0)
    assert answer["version"] == second
    assert await stored(service) == ["DECISIONS/0.md", "DECISIONS/1.md"]


async def test_a_file_that_is_refused_costs_no_other_and_keeps_its_stored_version(
    service: Service, url: str, folder: Path
) -> None:
    await sync(url, folder)
    (folder / "DECISIONS/0.md").write_bytes(b"\xff")
    write(folder, "DECISIONS/9.md", "# Nine\n")
    result = await typed(docs.app, url, "sync", str(folder), "--repo", "harbour")
    assert isinstance(result.exception, Invalid)
    assert await stored(service) == [f"DECISIONS/{name}.md" for name in (0, 1, 2, 9)]


async def test_a_mistyped_glob_empties_nothing(service: Service, url: str, folder: Path) -> None:
    await sync(url, folder)
    result = await typed(docs.app, url, "sync", str(folder), "--repo", "harbour", "--include", "*.nothing")
    assert "nothing was deleted" in str(result.exception)
    assert len(await stored(service)) == 3


async def test_a_sync_waits_for_vectors_and_says_when_nobody_makes_them(
    service: Service, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await sync(url, folder))["unembedded"] == 0
    monkeypatch.setattr(docs_sync, "PATIENCE_SECONDS", 0.0)
    service.embeds = False
    write(folder, "DECISIONS/7.md")
    assert (await sync(url, folder))["unembedded"] == 1
    assert (await sync(url, folder, "--no-wait"))["unembedded"] == 0


async def test_search_prints_what_to_cite(url: str, folder: Path) -> None:
    await sync(url, folder)
    told = (await typed(docs.app, url, "search", "berth 2 closed")).stdout
    assert "harbour/DECISIONS/2.md:1-3" in told


async def test_bench_measures_questions_of_ones_own(url: str, folder: Path, tmp_path: Path) -> None:
    await sync(url, folder)
    lines = [f"- {{id: {n}, category: decision, query: decision {n}, expected: [DECISIONS/{n}.md]}}" for n in range(3)]
    (tmp_path / "q.yaml").write_text("\n".join(lines), "utf-8")
    result = await typed(docs.app, url, "bench", str(tmp_path / "q.yaml"), "--repo", "harbour", "--json")
    assert orjson.loads(result.stdout)["scores"]["lexical"]["all"]["hit_1"] == 1.0


async def test_a_sync_that_is_killed_goes_on_where_it_was(service: Service, url: str, tmp_path: Path) -> None:
    for number in range(FILES):
        write(tmp_path, f"files/{number:03}.md", f"# File {number}\n\nText {number}.\n")
    words = ["sync", str(tmp_path / "files"), "--repo", "harbour", "--include", "*.md", "--url", url]
    command = [sys.executable, "-c", "import sys; from lithify.cli.docs import app; app(sys.argv[1:])", *words]
    process = await asyncio.create_subprocess_exec(*command)
    async with asyncio.timeout(PATIENCE_S):
        while len(await stored(service)) < FILES // 10:  # noqa: ASYNC110 - another process writes them
            await asyncio.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert await process.wait() == -signal.SIGKILL
    before = len(await stored(service))
    assert before < FILES
    answer = await sync(url, tmp_path / "files", "--include", "*.md")
    assert answer["put"] + answer["unchanged"] == FILES
    assert answer["unchanged"] >= before - 1
    assert len(await stored(service)) == FILES
    assert len(await service.parts.chunk_ids()) == FILES
