"""The docs jobs: vectors in the background, configured folders, and the lane that speaks only when it got worse."""

import asyncio
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import pytest_asyncio
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from rq.job import JobStatus

from lithify.docs import SourceKind
from lithify.docs.lane import read_receipts
from lithify.docs.requests import COOK, EMBED, QUEUE, request_cooking, request_vectors
from lithify.errors import Unavailable
from lithify.events import system_clock
from lithify.jobs import JobContext, JobRunner, given
from lithify.librarian.cooking import Kitchen, cook_docs
from lithify.librarian.notification import notifier
from lithify.librarian.refresh import Root
from lithify.librarian.vectors import VectorParts, embed_docs
from lithify.store import VectorStore
from tests.integration.jobs_parts import CALM, has_status, opened, record, running
from tests.unit.docs.docs_parts import ACME, TIDES, Desk, Fragile, open_desk, refs, write

QUESTIONS: Final = """
- {id: quay, category: decision, query: quay, expected: [DECISIONS/quay.md], important: true}
- {id: crane, category: decision, query: crane, expected: [DECISIONS/crane.md]}
- {id: none, category: negative, query: zebra}
"""


@pytest.fixture
def backend() -> str:
    return "edge"


@pytest.fixture
def jobs(redis_url: str) -> Iterator[BlockingRedis]:
    with opened(redis_url) as connection:
        yield connection


@pytest_asyncio.fixture
async def desk(bare_store: VectorStore, redis: Redis) -> Desk:
    return await open_desk(bare_store, redis, Fragile(32, (8, 16, 32)))


class Lane:
    """The kitchen of one tenant with a folder to cook from, run without a queue."""

    def __init__(self, desk: Desk, folder: Path, jobs: BlockingRedis) -> None:
        self.told: list[Mapping[str, Any]] = []
        self.folder, self.desk, self._jobs = folder, desk, jobs
        write(folder, "DECISIONS/quay.md", "# Quay\n\nThe quay is long.\n")
        write(folder, "DECISIONS/crane.md", "# Crane\n\nThe crane is tall.\n")
        write(folder.parent, "questions.yaml", QUESTIONS)

    async def notify(self, message: Mapping[str, Any]) -> None:
        self.told.append(message)

    @property
    def kitchen(self) -> Kitchen:
        root = Root("harbour", self.folder, source_kind=SourceKind.OPERATOR, tenant=ACME.tenant)
        return Kitchen(
            self.desk.library,
            self.desk.search(embedder=self.desk.embedder),
            self.desk.embedder,
            self.notify,
            (root,),
            self.folder.parent / "questions.yaml",
            "harbour",
            ACME.tenant,
        )

    async def cook(self) -> Any:
        self.desk.now += 1000
        with ThreadPoolExecutor(1) as executor:
            return await cook_docs(JobContext("job", COOK, 1, self.kitchen, executor, self._jobs))


@pytest.fixture
def lane(desk: Desk, tmp_path: Path, jobs: BlockingRedis) -> Lane:
    return Lane(desk, tmp_path / "root", jobs)


async def test_vectors_are_made_by_a_job_that_is_asked_for_once(desk: Desk, jobs: BlockingRedis) -> None:
    await desk.put("tides.md", TIDES)
    first, second = await request_vectors(jobs), await request_vectors(jobs)
    assert (first.is_new, second.is_new) == (True, False)
    known = {EMBED: given(embed_docs, VectorParts(desk.store, desk.embedder))}
    with ThreadPoolExecutor(1) as executor:
        runner: JobRunner[None] = JobRunner(jobs, QUEUE, known, None, executor, CALM, system_clock)
        async with running(runner):
            await has_status(jobs, first.job_id, JobStatus.FINISHED)
    result = record(jobs, first.job_id).latest_result()
    assert result is not None
    assert (result.return_value or {})["remaining"] == 0
    assert await desk.library.unembedded(ACME) == 0
    assert (await desk.find("tide tables")).dense.hits


async def test_chunks_that_cannot_be_embedded_wait_for_the_next_time(desk: Desk, jobs: BlockingRedis) -> None:
    """spec 10.5"""
    assert isinstance(desk.embedder, Fragile)
    await desk.put("tides.md", TIDES)
    chunks = await desk.library.unembedded(ACME)
    with ThreadPoolExecutor(1) as executor:
        context = JobContext("job", EMBED, 1, VectorParts(desk.store, desk.embedder), executor, jobs)
        desk.embedder.failure = RuntimeError("broken")
        assert await embed_docs(context) == {"embedded": 0, "remaining": chunks}
        desk.embedder.failure = Unavailable("away")
        with pytest.raises(Unavailable):
            await embed_docs(context)
        desk.embedder.failure = None
        assert await embed_docs(context) == {"embedded": chunks, "remaining": 0}


async def test_a_chunk_that_is_rewritten_while_it_is_embedded_gets_its_own_vector(
    desk: Desk, jobs: BlockingRedis
) -> None:
    await desk.put("a.md", "# Old crane\n")

    class Slow(Fragile):
        """Has the document rewritten while it embeds, once."""

        rewrite = True

        def embed_documents(self, texts: Any) -> Any:
            if self.rewrite:
                self.rewrite = False
                asyncio.run_coroutine_threadsafe(desk.put("a.md", "# Old crane\n\nWith a new text.\n"), loop).result()
            return super().embed_documents(texts)

    loop, embedder = asyncio.get_running_loop(), Slow(32, (8, 16, 32))
    with ThreadPoolExecutor(1) as executor:
        await embed_docs(JobContext("job", EMBED, 1, VectorParts(desk.store, embedder), executor, jobs))
    [chunk] = [one for one in (await desk.points("l3")).values() if one.payload["kind"] == "chunk"]
    [wanted] = embedder.embed_documents(["Old crane\n# Old crane\n\nWith a new text."])
    assert chunk.vectors["l3"] == pytest.approx(wanted, abs=1e-5)
    assert await desk.library.unembedded(ACME) == 0


async def test_the_lane_is_silent_until_a_question_is_lost_and_tells_it_once(lane: Lane) -> None:
    """spec 10.13"""
    first = await lane.cook()
    assert (first["refreshed"]["put"], first["misses"], lane.told) == (2, [], [])
    await lane.cook()
    assert lane.told == []

    (lane.folder / "DECISIONS/crane.md").unlink()
    await lane.cook()
    [message] = lane.told
    assert message["reasons"] == ["no longer found: crane"]
    await lane.cook()
    write(lane.folder, "DECISIONS/crane.md", "# Crane\n\nA crane again.\n")
    await lane.cook()
    assert len(lane.told) == 1
    receipts = await read_receipts(lane.desk.store, ACME)
    assert [list(one.misses) for one in receipts] == [[], ["crane"], ["crane"], [], []]
    assert [bool(one.reasons) for one in receipts] == [False, False, True, False, False]


async def test_a_root_that_is_gone_deletes_nothing_and_is_named(lane: Lane) -> None:
    await lane.cook()
    lane.folder.rename(lane.folder.with_name("elsewhere"))
    told = await lane.cook()
    assert (told["misses"], lane.told) == ([], [])
    assert "cannot be read" in told["refused"][0]
    assert refs(await lane.desk.find("quay"))


async def test_the_webhook_gets_the_message_and_its_failure_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        got.append(request)
        return httpx.Response(500)

    original = httpx.AsyncClient
    monkeypatch.setattr(
        httpx, "AsyncClient", lambda **kwargs: original(transport=httpx.MockTransport(answer), **kwargs)
    )
    await notifier("http://hook.test/x")({"reasons": ["no longer found: crane"]})
    await notifier(None)({"reasons": []})
    [request] = got
    assert b"no longer found: crane" in request.content


async def test_the_lane_may_be_asked_for_at_once(jobs: BlockingRedis) -> None:
    assert (await request_cooking(jobs)).is_new
    assert not (await request_cooking(jobs)).is_new
