"""Docs memory over HTTP."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.access import ApiKey, Forbidden, KeyScope
from lithify.assembly.docs_routes import docs_router
from lithify.assembly.traces import read_trace
from lithify.docs.document import MAX_BYTES
from lithify.embedding import HashEmbedder
from lithify.events import TenantScope
from lithify.http import create_app
from lithify.http.access import Access
from lithify.store import VectorStore
from tests.integration.docs_service import Service, open_service
from tests.unit.docs.docs_parts import TIDES

pytestmark = pytest.mark.parametrize("backend", ["edge"], indirect=True)

MARKDOWN = {"content-type": "text/markdown"}


@pytest_asyncio.fixture
async def service(bare_store: VectorStore, redis: Redis, hash_embedder: HashEmbedder) -> Service:
    return await open_service(bare_store, redis, hash_embedder)


def client_of(service: Service, access: Access) -> httpx.AsyncClient:
    app = create_app("test", [docs_router(service.desk, access)], 2 * MAX_BYTES)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test/v1")


@pytest_asyncio.fixture
async def http(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(service, Access.open()) as client:
        yield client


async def test_a_document_is_put_found_cited_listed_replaced_and_deleted(
    service: Service, http: httpx.AsyncClient
) -> None:
    created = await http.put("/docs/harbour/a/tides.md?version=c0ffee", content=TIDES, headers=MARKDOWN)
    assert (created.status_code, created.json()["changed"], service.asked) == (201, True, 1)
    answer = (await http.post("/docs/search", json={"query": "E_PUMP_204"})).json()
    hit = answer["hits"][0]
    assert (hit["path"], hit["version"], hit["trust"], hit["ts_hint"]) == (
        "a/tides.md",
        "c0ffee",
        "untrusted",
        "2023-10-15",
    )
    cited = TIDES.splitlines()[hit["lines"][0] - 1 : hit["lines"][1]]
    assert "\n".join(cited) == hit["text"]
    assert (await http.get("/docs/chunk", params={"ref": hit["ref"]})).json()["text"] == hit["text"]

    again = await http.put("/docs/harbour/a/tides.md", json={"text": TIDES})
    assert (again.status_code, again.json()["changed"], service.asked) == (200, False, 1)
    [listed] = (await http.get("/docs", params={"repo": "harbour"})).json()["documents"]
    assert listed["content_hash"] == (await http.get("/docs/harbour/a/tides.md")).json()["content_hash"]
    assert (await http.delete("/docs/harbour/a/tides.md")).json()["removed"]
    for gone in ("/docs/harbour/a/tides.md", f"/docs/chunk?ref={hit['ref'].replace('#', '%23')}"):
        assert (await http.get(gone)).status_code == 404
    assert (await http.delete("/docs/harbour/a/tides.md")).status_code == 404
    assert (await http.get("/docs")).json()["documents"] == []


async def test_every_search_leaves_a_receipt_that_can_be_replayed(service: Service, http: httpx.AsyncClient) -> None:
    await http.put("/docs/harbour/tides.md", content=TIDES, headers=MARKDOWN)
    asked = {"query": "harbour pump", "fusion": "weighted", "diversity": 0.7, "half_life_days": 30, "limit": 2}
    answer = (await http.post("/docs/search", json=asked)).json()
    receipt = await read_trace(service.desk.redis, TenantScope("default"), answer["trace_id"])
    assert receipt is not None
    assert [one["ref"] for one in receipt["hits"]] == [one["ref"] for one in answer["hits"]]
    replayed = (await http.post(f"/docs/traces/{answer['trace_id']}:replay")).json()
    assert (replayed["same"], replayed["corpus_then"]) == (True, answer["corpus_version"])
    assert (await http.post("/docs/traces/none:replay")).status_code == 404


async def test_promotion_is_asked_for_with_a_reason_and_listed(http: httpx.AsyncClient) -> None:
    await http.put("/docs/harbour/x.md?source_kind=web", content="# Quay\n", headers=MARKDOWN)
    asked = {"repo": "harbour", "path": "x.md", "trust": "trusted", "actor": "ada", "reason": "checked"}
    assert (await http.post("/docs/trust", json=asked | {"reason": ""})).status_code == 422
    assert (await http.post("/docs/trust", json=asked | {"path": "y.md"})).status_code == 404
    assert (await http.post("/docs/trust", json=asked)).json()["after"] == "trusted"
    [change] = (await http.get("/docs/trust")).json()["changes"]
    assert (change["doc_id"], change["before"], change["actor"]) == ("harbour/x.md", "untrusted", "ada")


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/docs/harbour/a.md", b"\xff\xfe", 422),
        ("/docs/har bour/a.md", b"x", 422),
        ("/docs/harbour/a%23b.md", b"x", 422),
        ("/docs/harbour/%2e%2e/b.md", b"x", 422),
        ("/docs/harbour/a.md", b"x" * (MAX_BYTES + 1), 413),
    ],
)
async def test_what_cannot_be_a_document_is_refused(
    http: httpx.AsyncClient, path: str, body: bytes, status: int
) -> None:
    assert (await http.put(path, content=body, headers=MARKDOWN)).status_code == status
    assert (await http.get("/docs")).json()["documents"] == []


async def test_an_unknown_source_is_refused(http: httpx.AsyncClient) -> None:
    refused = await http.put("/docs/harbour/a.md?source_kind=rumour", json={"text": "x"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "query.source_kind")


async def test_odd_but_valid_texts_are_stored(http: httpx.AsyncClient) -> None:
    for number, text in enumerate(["", "\x00", "# \n", "\u2028 \ufeff", "#" * 5000]):
        assert (await http.put(f"/docs/harbour/{number}.md", json={"text": text})).status_code == 201


async def test_a_wrong_search_is_refused_and_an_empty_one_is_not(http: httpx.AsyncClient) -> None:
    for wrong in ({"limit": 0}, {"fusion": "magic"}, {"half_life_days": 0}, {"diversity": 2}, {"colour": 1}):
        assert (await http.post("/docs/search", json={"query": "x", **wrong})).status_code == 422
    assert (await http.post("/docs/search", json={})).json()["hits"] == []


async def test_reading_needs_read_and_writing_needs_admin(service: Service) -> None:
    class ReadOnly:
        async def admit(self, _: str | None, scope: KeyScope) -> ApiKey | None:
            if scope is not KeyScope.READ:
                raise Forbidden
            return None

    async with client_of(service, Access(ReadOnly())) as http:
        assert (await http.get("/docs")).status_code == 200
        assert (await http.post("/docs/search", json={"query": "x"})).status_code == 200
        assert (await http.put("/docs/r/a.md", content="x", headers=MARKDOWN)).status_code == 403
        assert (await http.delete("/docs/r/a.md")).status_code == 403
        assert (await http.get("/docs/trust")).status_code == 403
