"""The assembly service over HTTP: forms of the answer, receipts, the header, single memories, and bad input."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.access import ApiKey, KeyScope
from lithify.assembly.library.memory_routes import memory_router
from lithify.assembly.routes import assembly_router
from lithify.events.scope import DEFAULT_TENANT
from lithify.http import create_app
from lithify.http.authorization import Access
from lithify.store import VectorStore
from lithify.streams.generations import durable_subject, read_generations
from tests.contract.assembly_parts import Scene, open_scene

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

QUESTION = {"user": "ada", "session": "now", "query": "my cat", "token_budget": 2000}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "be kind", "cache": {"ttl": 5}},
    {"role": "user", "content": [{"type": "text", "text": "my cat"}, {"type": "image", "url": "x"}], "id": None},
]


class TenantByKey:
    """Takes the key for the tenant's name."""

    async def authenticate(self, presented: str | None, required: KeyScope) -> ApiKey | None:
        if presented is None:
            return None
        return ApiKey(id=presented, name=presented, tenant=presented, scopes=frozenset({required}), created_at=0)


@pytest.fixture
def scene(memories: VectorStore, redis: Redis) -> Scene:
    return open_scene(memories, redis)


@pytest_asyncio.fixture
async def http(scene: Scene) -> AsyncIterator[httpx.AsyncClient]:
    access = Access(TenantByKey())
    routers = [assembly_router(scene.service, access), memory_router(scene.memories, access)]
    transport = httpx.ASGITransport(create_app("test", routers, 2**20))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


async def test_in_the_form_addition_the_messages_come_back_as_they_were(scene: Scene, http: httpx.AsyncClient) -> None:
    await scene.remember("my cat is Ludwig", "e1")
    answer = (await http.post("/v1/assemble", json=QUESTION | {"messages": MESSAGES})).json()
    assert answer["messages"] == MESSAGES
    assert answer["text"].count("Ludwig") == 1


async def test_in_the_form_messages_memory_is_one_system_message_and_said_once(
    scene: Scene, http: httpx.AsyncClient
) -> None:
    """spec 01.9"""
    await scene.remember("my cat is Ludwig", "e1")
    body = QUESTION | {"messages": MESSAGES, "form": "messages"}
    answer = (await http.post("/v1/assemble", json=body)).json()
    assert answer["text"] == ""
    first, added, *rest = answer["messages"]
    assert [first, *rest] == MESSAGES
    assert added["role"] == "system"
    assert added["content"].count("Ludwig") == 1


async def test_without_a_query_the_last_message_asks(scene: Scene, http: httpx.AsyncClient) -> None:
    await scene.remember("my cat is Ludwig", "e1")
    body = {"user": "ada", "session": "now", "messages": MESSAGES, "token_budget": 2000}
    assert "Ludwig" in (await http.post("/v1/assemble", json=body)).json()["text"]


async def test_the_header_needs_no_store(scene: Scene, http: httpx.AsyncClient) -> None:
    """spec 01.11"""
    scene.store.calls.clear()
    texts = {(await http.get("/v1/header")).json()["text"] for _ in range(2)}
    assert len(texts) == 1
    assert scene.store.calls == []


async def test_a_receipt_tells_why_each_candidate_won_or_lost(scene: Scene, http: httpx.AsyncClient) -> None:
    await scene.remember("my cat is Ludwig", "e1")
    await scene.remember("my cat is Ludwig", "e1", kind="memory", scope="user")
    await scene.remember("my dog and my fish " * 60, "long")
    await scene.say("my cat sleeps", "t1")
    await scene.remember("my cat sleeps", "t1", session="now")
    answer = (await http.post("/v1/assemble", json=QUESTION | {"token_budget": 130})).json()
    trace = (await http.get(f"/v1/traces/{answer['trace_id']}")).json()
    told = [(row["event_id"], row["verdict"]) for row in trace["considered"]]
    # The turn of the tail was left out in the search itself.
    assert sorted(told) == [("e1", "copy"), ("e1", "injected"), ("long", "cut_retrieval")]
    assert trace["degraded"] == answer["degraded"] == ["1 of the memories without room"]
    assert [row["id"] for row in trace["tail"]] == ["t1"]
    assert trace["tokens"] == answer["tokens"]
    assert trace["budgets"]["tau"] > trace["budgets"]["retrieval"] > 0
    assert "Ludwig" not in (await http.get(f"/v1/traces/{answer['trace_id']}")).text


async def test_a_receipt_tells_excerpts_from_whole_memories(scene: Scene, http: httpx.AsyncClient) -> None:
    await scene.remember("my cat is Ludwig", "e1")
    await scene.remember("my dog and my fish " * 60, "long")
    answer = (await http.post("/v1/assemble", json=QUESTION | {"token_budget": 300})).json()
    trace = (await http.get(f"/v1/traces/{answer['trace_id']}")).json()
    assert {row["verdict"] for row in trace["considered"]} == {"injected"}
    assert sorted(row["excerpt"] for row in trace["recalled"]) == [False, True]
    assert answer["degraded"] == ["1 of the memories shown as excerpt"]


async def test_a_receipt_belongs_to_its_tenant(scene: Scene, http: httpx.AsyncClient) -> None:
    answer = (await http.post("/v1/assemble", json=QUESTION)).json()
    path = f"/v1/traces/{answer['trace_id']}"
    assert (await http.get(path)).status_code == 200
    assert (await http.get(path, headers={"Authorization": "Bearer other"})).status_code == 404


async def test_a_hit_can_be_opened_by_its_path(scene: Scene, http: httpx.AsyncClient) -> None:
    await scene.remember("my cat is Ludwig", "e1")
    [hit] = (await http.post("/v1/search", json={"query": "cat"})).json()["hits"]
    opened = await http.get(f"/v1/memories/{hit['path']}")
    assert opened.json()["text"] == "my cat is Ludwig"
    assert opened.json() == (await http.get(f"/v1/memories/{hit['id']}")).json()
    assert (await http.get(f"/v1/memories/docs::{hit['id']}")).status_code == 404
    assert (await http.get("/v1/memories/nothing")).status_code == 404
    other = {"Authorization": "Bearer other"}
    assert (await http.get(f"/v1/memories/{hit['id']}", headers=other)).status_code == 404


async def test_an_explicit_memory_is_recalled_at_once_and_written_once(scene: Scene, http: httpx.AsyncClient) -> None:
    given = {"text": "  my cat is Ludwig ", "user": "ada"}
    first, second = [await http.post("/v1/memories", json=given) for _ in range(2)]
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert "Ludwig" in (await http.post("/v1/assemble", json=QUESTION)).json()["text"]
    assert await read_generations(scene.redis, DEFAULT_TENANT, [durable_subject("ada"), durable_subject("")]) == (1, 0)
    stored = (await http.get(f"/v1/memories/{first.json()['path']}")).json()
    assert (stored["kind"], stored["scope"], stored["provenance"]) == ("memory", "user", "explicit")


async def test_a_global_memory_is_seen_by_all_users_of_its_tenant_only(http: httpx.AsyncClient) -> None:
    assert (await http.post("/v1/memories", json={"text": "the cat door is blue", "scope": "global"})).is_success
    for user in ("ada", "bob"):
        assert "blue" in (await http.post("/v1/assemble", json=QUESTION | {"user": user})).json()["text"]
    other = {"Authorization": "Bearer other"}
    assert (await http.post("/v1/assemble", json=QUESTION, headers=other)).json()["text"] == ""


async def test_an_id_used_for_another_memory_is_a_conflict(http: httpx.AsyncClient) -> None:
    given = {"text": "one", "user": "ada", "event_id": "m1"}
    assert (await http.post("/v1/memories", json=given)).status_code == 201
    assert (await http.post("/v1/memories", json=given | {"text": "two"})).status_code == 409
    assert (await http.post("/v1/memories", json=given | {"user": "bob"})).status_code == 409


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/memories", {"text": " ", "user": "ada"}, "text"),
        ("/v1/memories", {"text": "x"}, "user"),
        ("/v1/memories", {"text": "x", "scope": "global", "user": "ada"}, "user"),
        ("/v1/memories", {"text": "x", "scope": "session", "user": "ada"}, "scope"),
        ("/v1/assemble", QUESTION | {"form": "html"}, "form"),
        ("/v1/assemble", QUESTION | {"deadline_ms": 1}, "deadline_ms"),
        ("/v1/assemble", QUESTION | {"token_budget": -1}, "token_budget"),
        ("/v1/search", {"query": "x", "deadline_ms": 10**9}, "deadline_ms"),
    ],
)
async def test_bad_input_is_refused_by_name(path: str, body: Any, field: str, http: httpx.AsyncClient) -> None:
    answer = await http.post(path, json=body)
    assert answer.status_code == 422
    assert field in answer.json()["detail"]
