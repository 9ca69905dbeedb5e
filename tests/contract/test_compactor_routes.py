"""The HTTP surface of compaction on every engine: tickets, states, and the way back from a summary to its turns."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from lithify.access import KeyScope
from lithify.assembly.library.compaction_routes import CompactionParts, compaction_router
from lithify.compaction import SessionKey
from lithify.compactor.retention import purgeable
from lithify.events import TenantScope
from lithify.events.scope import DEFAULT_TENANT
from lithify.http import create_app
from lithify.http.authorization import Access
from lithify.store import Record
from lithify.store.memory_record import COLLECTION
from tests.compaction_parts import Bench, chat
from tests.integration.jobs_parts import queued, record

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

KEY = SessionKey(DEFAULT_TENANT, "ada", "s/1")


@pytest_asyncio.fixture
async def http(bench: Bench) -> AsyncIterator[httpx.AsyncClient]:
    bench.key = KEY
    app = create_app("test", [compaction_router(CompactionParts(bench.store, bench.connection), Access.open())], 10_000)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client
    bench.connection.flushall()


async def compacted(bench: Bench) -> Record:
    await bench.tell(chat(14, key=KEY))
    await bench.run()
    [summary] = await bench.records("summary")
    return summary


async def test_request_queues_one_job_and_its_state_can_be_read(bench: Bench, http: httpx.AsyncClient) -> None:
    path = "/v1/sessions/s%2F1/compact"
    assert (await http.get(path, params={"user": "ada"})).status_code == 404
    first = await http.post(path, json={"user": "ada", "force": True})
    again = await http.post(path, json={"user": "ada"})
    assert (first.status_code, first.json()["is_new"]) == (202, True)
    assert (again.status_code, again.json()) == (202, {"job_id": first.json()["job_id"], "is_new": False})
    [job_id] = queued(bench.connection)
    wanted = {"tenant": DEFAULT_TENANT, "user": "ada", "session": "s/1", "trigger": "force"}
    assert record(bench.connection, job_id).call.args == wanted
    state = (await http.get(path, params={"user": "ada"})).json()
    assert state == {"job_id": job_id, "status": "queued", "result": None, "error": None}


@pytest.mark.parametrize("body", [{}, {"user": " "}, {"user": "ada", "sooner": 1}, {"user": "a\nb"}])
async def test_bad_request_is_refused_and_queues_nothing(bench: Bench, http: httpx.AsyncClient, body: Any) -> None:
    refused = await http.post("/v1/sessions/s1/compact", json=body)
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
    assert queued(bench.connection) == []


async def test_expand_returns_exactly_the_sources_in_order(bench: Bench, http: httpx.AsyncClient) -> None:
    """spec 05.13"""
    summary = await compacted(bench)
    answer = (await http.post(f"/v1/memories/{summary.id}:expand")).json()
    told = [(turn["event_id"], turn["role"], turn["ts"], turn["text"]) for turn in answer["turns"]]
    assert told == [(event.event_id, event.role, event.ts, event.text) for event in chat(10, key=KEY)]
    assert answer["missing"] == []
    by_path = await http.post(f"/v1/memories/memories%3A%3A{summary.id}:expand", json={"max_depth": 1})
    assert by_path.json()["turns"] == answer["turns"]


async def test_expand_names_turns_that_retention_has_purged(bench: Bench, http: httpx.AsyncClient) -> None:
    summary = await compacted(bench)
    await bench.store.delete(KEY.scope, COLLECTION, purgeable(until_ms=1_002))
    answer = (await http.post(f"/v1/memories/{summary.id}:expand")).json()
    assert answer["missing"] == ["s/1-000", "s/1-001", "s/1-002"]
    assert [turn["event_id"] for turn in answer["turns"]] == [f"s/1-{number:03}" for number in range(3, 10)]


async def test_only_summaries_can_be_expanded(bench: Bench, http: httpx.AsyncClient) -> None:
    await compacted(bench)
    [turn, *_] = await bench.records("turn")
    refused = await http.post(f"/v1/memories/{turn.id}:expand")
    assert (refused.status_code, "only a summary" in refused.json()["detail"]) == (422, True)
    assert (await http.post("/v1/memories/no-such-id:expand")).status_code == 404
    assert (await http.post(f"/v1/memories/{turn.id}:expand", json={"max_depth": 0})).status_code == 422


async def test_summary_of_another_tenant_cannot_be_expanded(bench: Bench) -> None:
    bench.key = KEY
    summary = await compacted(bench)

    class Stranger(Access):
        def needs(self, scope: KeyScope) -> Any:  # noqa: ARG002 - every scope is granted
            return lambda: TenantScope("stranger")

    router = compaction_router(CompactionParts(bench.store, bench.connection), Stranger.open())
    transport = httpx.ASGITransport(create_app("test", [router], 10_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        assert (await client.post(f"/v1/memories/{summary.id}:expand")).status_code == 404
