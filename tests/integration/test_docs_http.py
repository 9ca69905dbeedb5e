"""Docs memory over HTTP, on a real Redis and Qdrant Edge."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from lithify.access import Credential, KeyScope
from lithify.docs.jobs import LaneRuns
from lithify.docs.sources import DocSource
from lithify.events import TenantScope
from lithify.events.scope import DEFAULT_TENANT
from tests.integration.whole_app import ServedApp, whole_app

DECISION = "---\ndate: 2024-03-04\n---\n# Boats\n\nThe ferry sails at noon.\n\n## Why\n\nThe tide, error TW-409-FULL.\n"
PATH = "DECISIONS/0001-boats.md"


@pytest_asyncio.fixture
async def app(redis_url: str, tmp_path: Path) -> AsyncIterator[ServedApp]:
    async with whole_app(redis_url, tmp_path) as served:
        yield served


@pytest_asyncio.fixture
async def http(app: ServedApp) -> AsyncIterator[httpx.AsyncClient]:
    async with app.client() as client:
        yield client


async def put(http: httpx.AsyncClient, text: str = DECISION, path: str = PATH, **more: str) -> httpx.Response:
    return await http.put(f"/v1/docs/notes/{path}", json={"text": text, **more})


async def found(http: httpx.AsyncClient, query: str, **more: Any) -> dict[str, Any]:
    answer = await http.post("/v1/docs/search", json={"query": query, "mode": "lexical", **more})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


async def test_a_document_is_found_by_its_words_when_the_call_returns(http: httpx.AsyncClient) -> None:
    answer = await put(http)
    assert (answer.status_code, answer.json()["status"]) == (201, "added")
    [hit, *_] = (await found(http, "TW-409-FULL"))["hits"]
    assert (hit["repo"], hit["path"], hit["kind"], hit["date"]) == ("notes", PATH, "decision", "2024-03-04")
    assert hit["ref"].startswith(f"doc:notes:{PATH}#")
    assert hit["trust"] == "trusted"
    first, last = hit["lines"]
    assert "TW-409-FULL" in "\n".join(DECISION.splitlines()[first - 1 : last])


async def test_the_same_text_again_changes_nothing(http: httpx.AsyncClient) -> None:
    await put(http)
    again = await put(http)
    assert (again.status_code, again.json()["status"], again.json()["chunks"]) == (200, "unchanged", 0)
    edited = await put(http, DECISION.replace("noon", "midnight"))
    assert (edited.status_code, edited.json()["status"]) == (200, "changed")


async def test_plain_markdown_may_be_sent_as_it_is(http: httpx.AsyncClient) -> None:
    headers = {"content-type": "text/markdown; charset=utf-8"}
    query = {"kind": "log", "source_kind": "tool"}
    answer = await http.put("/v1/docs/notes/a/b.md", content="# Größe\n\nzwölf", headers=headers, params=query)
    assert answer.status_code == 201
    shown = (await http.get("/v1/docs/notes/a/b.md")).json()
    assert (shown["kind"], shown["source_kind"], shown["trust"]) == ("log", "tool", "untrusted")
    assert "zwölf" in shown["chunks"][0]["text"]


@pytest.mark.parametrize(
    ("path", "body", "kind", "status"),
    [
        ("notes/a.png", b"{}", "application/json", 422),
        ("notes/a.png", b'{"text": "x"}', "application/json", 422),
        ("notes/a.md", b'{"text": "x", "kind": "novel"}', "application/json", 422),
        ("notes/a.md", b"{", "application/json", 400),
        ("notes/a.md", b"\xff", "text/markdown", 400),
        ("notes/a.md", b"x", "image/png", 415),
        ("notes/%2e%2e/a.md", b'{"text": "x"}', "application/json", 422),
        ("notes/", b'{"text": "x"}', "application/json", 422),
        (f"notes/{'x' * 1100}.md", b'{"text": "x"}', "application/json", 422),
        ("no%20tes/a.md", b'{"text": "x"}', "application/json", 422),
    ],
)
async def test_a_bad_document_is_refused_with_the_reason(
    http: httpx.AsyncClient, path: str, body: bytes, kind: str, status: int
) -> None:
    answer = await http.put(f"/v1/docs/{path}", content=body, headers={"content-type": kind})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["detail"]


async def test_a_bad_name_is_told_as_such_whatever_the_body_is(http: httpx.AsyncClient) -> None:
    """415 is for bodies: another content type would not mend a name."""
    answer = await http.put("/v1/docs/no%20tes/a.md", content=b"# A", headers={"content-type": "text/markdown"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "path.repo")


async def test_a_batch_gives_every_document_its_own_result(http: httpx.AsyncClient) -> None:
    await put(http, "# Old", "old.md")
    documents = [
        {"path": "a.md", "text": "# A\n\nalpha"},
        {"path": "../b.md", "text": "b"},
        {"path": "c.png", "text": ""},
    ]
    body = {"put": documents, "remove": ["old.md", "never.md", "../c.md"], "version": "abc123"}
    answer = await http.post("/v1/docs/notes:batch", json=body)
    assert answer.status_code == 200, answer.text
    told = {one["path"]: one["status"] for one in answer.json()["results"]}
    refused = dict.fromkeys(("../b.md", "c.png", "../c.md"), "invalid")
    assert told == {"a.md": "added", "old.md": "removed", "never.md": "unchanged"} | refused
    digests = (await http.get("/v1/docs/notes:digests")).json()
    assert digests["version"] == "abc123"
    assert digests["documents"] == {"a.md": DocSource("a.md", "# A\n\nalpha").digest}
    [shelf] = (await http.get("/v1/docs")).json()["repos"]
    assert (shelf["repo"], shelf["version"], shelf["files"], shelf["chunks"]) == ("notes", "abc123", 1, 1)


async def test_a_removed_document_is_found_no_more(http: httpx.AsyncClient) -> None:
    await put(http)
    await put(http, "# Other\n\nferry", "other.md")
    assert (await http.delete(f"/v1/docs/notes/{PATH}")).json() == {"repo": "notes", "removed": 1}
    assert {hit["path"] for hit in (await found(http, "ferry"))["hits"]} == {"other.md"}
    assert (await http.get(f"/v1/docs/notes/{PATH}")).status_code == 404
    assert (await http.delete(f"/v1/docs/notes/{PATH}")).status_code == 404
    assert (await http.delete("/v1/docs/notes")).json()["removed"] == 1
    assert (await found(http, "ferry"))["hits"] == []


async def test_the_trace_tells_why_and_can_be_replayed(http: httpx.AsyncClient) -> None:
    await put(http)
    answer = await found(http, "ferry noon")
    trace = (await http.get(f"/v1/traces/{answer['trace_id']}")).json()
    assert (trace["kind"], trace["query"]["text"], trace["vector"]["absent"]) == ("docs", "ferry noon", "not asked for")
    assert [one["ref"] for one in trace["final"]] == [hit["ref"] for hit in answer["hits"]]
    replay = (await http.post(f"/v1/docs/search/{answer['trace_id']}:replay")).json()
    assert replay == {"same": True, "corpus_same": True, "differences": []}
    await put(http, "# New\n\nferry noon ferry noon", "new.md")
    replay = (await http.post(f"/v1/docs/search/{answer['trace_id']}:replay")).json()
    assert (replay["same"], replay["corpus_same"]) == (False, False)


async def test_a_large_trace_is_kept_without_its_worst_part(http: httpx.AsyncClient) -> None:
    folder = "/".join(["x" * 200] * 4)
    documents = [{"path": f"{folder}/{n}.md", "text": f"# Ferry {n}\n\nferry"} for n in range(400)]
    written = await http.post("/v1/docs/notes:batch", json={"put": documents})
    assert written.status_code == 200, written.text
    answer = await found(http, "ferry", limit=100)
    trace = (await http.get(f"/v1/traces/{answer['trace_id']}")).json()
    assert trace["shortened"]
    assert (await http.post(f"/v1/docs/search/{answer['trace_id']}:replay")).status_code == 422


async def test_meaning_missing_leaves_words(http: httpx.AsyncClient) -> None:
    """Vectors are made by a job, which does not run here."""
    await put(http)
    [hit, *_] = (await found(http, "ferry", mode="fused"))["hits"]
    assert hit["components"]["vector_rank"] is None
    assert (await http.get("/v1/docs")).json()["unembedded"] > 0


async def test_every_choice_of_a_search_is_accepted(http: httpx.AsyncClient) -> None:
    await put(http)
    choices = {"fusion": "weighted", "vector_weight": 0.5, "decay": True, "half_life_days": 7, "mmr": True}
    more = {"relevance_share": 0.5, "threshold": 0.0, "multiplier": 8, "kinds": ["decision"], "repos": ["notes"]}
    answer = await found(http, "ferry", **choices, **more, now=1_709_510_400_000)
    assert answer["hits"]
    assert (await found(http, "ferry", kinds=["log"]))["hits"] == []


async def test_promotion_is_audited_with_the_key(app: ServedApp) -> None:
    async with app.client() as http:
        await put(http, "# Web\n\nferry", "DECISIONS/web.md", source_kind="web")
        assert (await found(http, "ferry"))["hits"][0]["trust"] == "untrusted"
        body = {"by": "Ada", "why": "I have read it"}
        ruling = (await http.post("/v1/docs/notes/DECISIONS/web.md:promote", json=body)).json()
        assert (ruling["before"], ruling["after"], ruling["by"]) == ("untrusted", "trusted", "Ada")
        assert (await found(http, "ferry"))["hits"][0]["trust"] == "trusted"
        assert (await http.post("/v1/docs/notes/none.md:promote", json=body)).status_code == 404
        [kept] = (await http.get("/v1/docs/notes:rulings")).json()["rulings"]
        assert kept == ruling


async def test_a_keyed_ruling_names_the_key(app: ServedApp) -> None:
    secret = await app.key("acme", KeyScope.ADMIN)
    credential = Credential.parse(secret)
    assert credential is not None
    async with app.client(secret) as http:
        await put(http)
        ruling = await http.post(
            f"/v1/docs/notes/{PATH}:promote", json={"trust": "untrusted", "by": "Ada", "why": "no"}
        )
        assert ruling.json()["by"] == f"Ada (key {credential.id})"


async def test_the_lane_shows_its_last_run_and_its_notices(app: ServedApp) -> None:
    async with app.client() as http:
        assert (await http.get("/v1/docs/lane")).json() == {"last": None, "history": [], "notices": []}
        scope = TenantScope(DEFAULT_TENANT)
        for at, reasons in ((1, ["regression: x"]), (2, [])):
            receipt = {"at": at, "took_ms": 5, "scores": None, "reasons": reasons, "worst": []}
            await LaneRuns(app.redis).append(scope, receipt)
        lane = (await http.get("/v1/docs/lane")).json()
        assert (lane["last"]["at"], [one["at"] for one in lane["history"]]) == (2, [1])
        assert lane["notices"] == [{"at": 1, "reasons": ["regression: x"]}]
