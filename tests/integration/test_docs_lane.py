"""The scheduled refresh: it measures, keeps one report a run, and speaks up only when something got worse."""

from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import orjson
import pytest
import pytest_asyncio
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.docs.holdings import Holdings
from lithify.docs.jobs import REFRESH, LaneRuns
from lithify.docs.search import DocSearch
from lithify.docs.space import Space
from lithify.embedding.hash_embedder import HashEmbedder
from lithify.events import TenantScope, system_clock
from lithify.jobs import JobContext
from lithify.librarian.lane import LaneParts, refresh_and_measure
from lithify.librarian.vectors import VectorParts
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import EdgeStore

SCOPE = TenantScope("acme")
QUESTIONS = """
questions:
  - {id: boats, category: identifier, ask: TW-409-FULL, expect: [DECISIONS/boats.md], hint: ferry, important: true}
  - {id: trains, category: decision, ask: narrow gauge, expect: [DECISIONS/trains.md], hint: rail}
  - {id: nothing, category: negative, ask: quantum}
"""


@dataclass(frozen=True, slots=True)
class Lane:
    folder: Path
    parts: LaneParts
    executor: ThreadPoolExecutor

    def write(self, name: str, text: str) -> None:
        (self.folder / "DECISIONS" / name).write_text(text)

    async def run(self, **changed: Any) -> dict[str, Any]:
        """One run; its receipt."""
        parts = replace(self.parts, **changed)
        await refresh_and_measure(JobContext(REFRESH, REFRESH, 1, parts, self.executor, BlockingRedis()))
        return (await parts.runs.all(SCOPE))[0]


@pytest_asyncio.fixture
async def lane(redis: Redis, tmp_path: Path, hash_embedder: HashEmbedder) -> AsyncIterator[Lane]:
    store, space, analyser = EdgeStore(tmp_path / "edge"), Space.of(hash_embedder), LexicalAnalyser()
    await store.ensure(space.spec)
    folder, questions = tmp_path / "docs", tmp_path / "questions.yaml"
    (folder / "DECISIONS").mkdir(parents=True)
    questions.write_text(QUESTIONS)
    with ThreadPoolExecutor(2) as executor:
        parts = LaneParts(
            SCOPE,
            Holdings(store, analyser, executor, system_clock, space),
            DocSearch(store, analyser, executor, space, hash_embedder),
            VectorParts(store, hash_embedder),
            LaneRuns(redis),
            system_clock,
            {"docs": folder},
            questions=questions,
            questions_repo="docs",
        )
        made = Lane(folder, parts, executor)
        made.write("boats.md", "# Boats\n\nThe ferry is full: TW-409-FULL.\n")
        made.write("trains.md", "# Trains\n\nA narrow gauge line up the hill.\n")
        yield made
        await store.close()


@pytest.fixture
def hook() -> Iterator[tuple[str, list[Any]]]:
    """A web address, and what it was told."""
    told: list[Any] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(orjson.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Listener) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/hook", told
        server.shutdown()
        thread.join()


async def test_a_run_refreshes_measures_and_leaves_one_receipt(lane: Lane) -> None:
    receipt = await lane.run()
    [refreshed] = receipt["refreshed"]
    assert (refreshed["repo"], refreshed["written"], refreshed["removed"]) == ("docs", 2, 0)
    assert receipt["vectors"]["embedded"] > 0
    assert {mode: score["hit5"] for mode, score in receipt["scores"].items()} == dict.fromkeys(
        ("lexical", "dense", "fused"), 1.0
    )
    assert (receipt["reasons"], receipt["worst"], receipt["trouble"]) == ([], [], [])


async def test_an_unchanged_folder_is_not_written_again_and_gives_no_notice(
    lane: Lane, hook: tuple[str, list[Any]]
) -> None:
    url, told = hook
    await lane.run(webhook=url)
    before = await lane.parts.holdings.corpus(SCOPE)
    receipt = await lane.run(webhook=url)
    assert await lane.parts.holdings.corpus(SCOPE) == before
    assert (receipt["refreshed"][0]["unchanged"], receipt["refreshed"][0]["written"]) == (2, 0)
    assert told == []
    assert len(await lane.parts.runs.all(SCOPE)) == 2


async def test_a_question_that_stops_hitting_gives_one_notice_and_only_once(
    lane: Lane, hook: tuple[str, list[Any]]
) -> None:
    url, told = hook
    await lane.run(webhook=url)
    (lane.folder / "DECISIONS" / "boats.md").unlink()
    receipt = await lane.run(webhook=url)
    assert [miss["id"] for miss in receipt["worst"]] == ["boats"]
    [notice] = told
    assert (notice["kind"], notice["reasons"]) == ("docs_memory_worse", receipt["reasons"])
    assert "'boats'" in receipt["reasons"][0]
    assert (await lane.run(webhook=url))["reasons"] == []
    lane.write("boats.md", "# Boats\n\nThe ferry is full: TW-409-FULL.\n")
    assert (await lane.run(webhook=url))["scores"]["fused"]["hit5"] == 1.0
    assert len(told) == 1


async def test_an_address_that_does_not_answer_spoils_nothing(lane: Lane) -> None:
    await lane.run()
    (lane.folder / "DECISIONS" / "boats.md").unlink()
    receipt = await lane.run(webhook="http://127.0.0.1:9/hook")
    assert receipt["reasons"]


async def test_an_empty_or_missing_folder_removes_nothing(lane: Lane, tmp_path: Path) -> None:
    await lane.run()
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "empty", tmp_path / "nowhere"):
        receipt = await lane.run(roots={"docs": place})
        assert len(receipt["trouble"]) == 1
        assert receipt["scores"]["fused"]["hit5"] == 1.0


async def test_a_bad_file_of_questions_is_told_and_the_refresh_is_done(lane: Lane, tmp_path: Path) -> None:
    (tmp_path / "questions.yaml").write_text("questions: 7")
    receipt = await lane.run()
    assert receipt["refreshed"][0]["written"] == 2
    assert "questions" in receipt["trouble"][0]
    assert receipt["scores"] is None
