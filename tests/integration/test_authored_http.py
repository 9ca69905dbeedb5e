"""Authored documents over HTTP and from the terminal."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import orjson
import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.access import ApiKey, Forbidden, KeyScope
from lithify.assembly.library.authored_routes import authored_router
from lithify.authored import MAX_BYTES, AuthoredDocuments, Reserve
from lithify.cli import authored
from lithify.embedding import HashEmbedder
from lithify.events import TenantScope
from lithify.http import create_app
from lithify.http.authorization import Access
from lithify.store import VectorStore
from tests.integration.terminal import served, typed
from tests.unit.authored.authored_parts import IDENTITY, documents_on, reader_on, rules_shown

pytestmark = pytest.mark.parametrize("backend", ["edge"], indirect=True)

HOME = TenantScope("default")
MARKDOWN = {"content-type": "text/markdown"}


@pytest.fixture
def documents(memories: VectorStore, redis: Redis, hash_embedder: HashEmbedder) -> AuthoredDocuments:
    return documents_on(memories, redis, hash_embedder, reserve=Reserve(1000))


def client_of(documents: AuthoredDocuments, access: Access) -> httpx.AsyncClient:
    app = create_app("test", [authored_router(documents, access)], 2**20)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test/v1")


@pytest_asyncio.fixture
async def http(documents: AuthoredDocuments) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(documents, Access.open()) as client:
        yield client


async def test_a_document_is_put_shown_listed_replaced_and_deleted(
    documents: AuthoredDocuments, http: httpx.AsyncClient
) -> None:
    reader = reader_on(documents)
    created = await http.put("/authored/AGENTS.md", content=IDENTITY, headers=MARKDOWN)
    assert created.status_code == 201
    assert created.json()["nodes"] | {"hard_tokens": 0} == {"hard": 3, "soft": 2, "variant": 3, "hard_tokens": 0}
    assert (created.json()["core"], created.json()["changed"]) == (True, True)

    shown = (await http.get("/authored/AGENTS.md")).json()
    assert shown["text"] == IDENTITY
    assert [node["tier"] for node in shown["nodes"]].count("hard") == 3
    assert shown["nodes"][4]["id"] == "AGENTS.md#000004"

    replaced = await http.put("/authored/AGENTS.md", json={"text": "- Greet first.\n"})
    assert (replaced.status_code, replaced.json()["changed"]) == (200, True)
    assert await rules_shown(reader, HOME) == (["Greet first."], [])
    assert (await http.put("/authored/AGENTS.md", json={"text": "- Greet first.\n"})).json()["changed"] is False

    [listed] = (await http.get("/authored")).json()["documents"]
    assert (listed["name"], listed["origin"], listed["bytes"]) == ("AGENTS.md", "api", 15)
    assert listed["hash"] == replaced.json()["hash"]

    assert (await http.delete("/authored/AGENTS.md")).json() == {"name": "AGENTS.md", "removed": True}
    assert await rules_shown(reader, HOME) == ([], [])
    assert (
        (await http.get("/authored/AGENTS.md")).status_code
        == (await http.delete("/authored/AGENTS.md")).status_code
        == 404
    )


async def test_names_may_be_paths(http: httpx.AsyncClient) -> None:
    assert (await http.put("/authored/notes/a%20b.md", content="x", headers=MARKDOWN)).status_code == 201
    assert (await http.get("/authored/notes/a%20b.md")).json()["name"] == "notes/a b.md"


@pytest.mark.parametrize(
    ("path", "media_type", "body", "status", "named"),
    [
        ("/a.md", "text/markdown", b"x" * (MAX_BYTES + 1), 413, "262144 are allowed"),
        ("/a.md", "text/markdown", b"- x\n" * 2001, 413, "2001"),
        ("/a.md", "text/markdown", b"\xff", 422, "UTF-8"),
        ("/a.md", "application/json", b"{", 400, "JSON"),
        ("/a.md", "application/json", b'{"txt": "x"}', 422, "text"),
        ("/a.md", "application/json", b'{"text": "\\ud800"}', 400, "JSON"),
        ("/a.md", "application/pdf", b"x", 415, "text/markdown"),
        ("/a%23000001", "text/markdown", b"x", 422, "name"),
        ("/AGENTS.md", "text/markdown", b"- " + b"x" * 1604, 422, "403 tokens as they are shown, a prompt of 1000 has"),
    ],
)
async def test_what_cannot_be_a_document_is_refused_and_leaves_nothing(
    http: httpx.AsyncClient, path: str, media_type: str, body: bytes, status: int, named: str
) -> None:
    refused = await http.put(f"/authored{path}", content=body, headers={"content-type": media_type})
    assert refused.status_code == status
    assert named in refused.json()["detail"]
    assert (await http.get("/authored")).json() == {"documents": []}


class ReadersOnly:
    async def authenticate(self, presented: str | None, required: KeyScope) -> ApiKey | None:  # noqa: ARG002 - the contract's
        if required is not KeyScope.READ:
            raise Forbidden(f"the scope {required.value} is missing")
        return None


async def test_reading_needs_a_reader_and_writing_an_administrator(documents: AuthoredDocuments) -> None:
    async with client_of(documents, Access(ReadersOnly())) as http:
        assert (await http.get("/authored")).status_code == 200
        assert (await http.put("/authored/a.md", content="x", headers=MARKDOWN)).status_code == 403
        refused = await http.delete("/authored/a.md")
    assert (refused.status_code, "admin" in refused.json()["detail"]) == (403, True)


async def test_the_commands_of_an_operator(documents: AuthoredDocuments, tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_bytes(b"- Greet first.\r\n\r\nThe sea is wide.\n")
    async with served(authored_router(documents, Access.open())) as url:
        put = await typed(authored.app, url, "put", str(file))
        assert "AGENTS.md stored (core): 1 hard and 0 soft rules, 1 searchable" in put.stderr
        assert "unchanged" in (await typed(authored.app, url, "put", str(file))).stderr
        await typed(authored.app, url, "put", str(file), "--name", "notes/copy [1].md")
        listed = await typed(authored.app, url, "list", "--json")
        names = [(one["name"], one["core"]) for one in orjson.loads(listed.stdout_bytes)["documents"]]
        assert names == [("AGENTS.md", True), ("notes/copy [1].md", False)]
        assert "notes/copy [1].md" in (await typed(authored.app, url, "list")).stdout
        assert "hard" in (await typed(authored.app, url, "show", "AGENTS.md")).stdout
        assert (await typed(authored.app, url, "delete", "AGENTS.md", said="n\n")).exit_code == 1
        assert "deleted" in (await typed(authored.app, url, "delete", "AGENTS.md", said="y\n")).stderr
        await typed(authored.app, url, "delete", "notes/copy [1].md", "--yes")
        assert "no authored documents" in (await typed(authored.app, url, "list")).stderr
        missing = await typed(authored.app, url, "show", "AGENTS.md")
        assert "there is no authored document" in str(missing.exception)
