"""Two tenants on every route: with guessed ids neither sees, changes nor deletes anything of the other."""

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest_asyncio

from lithify.access import Credential, KeyScope
from lithify.events import Event, encode_event
from lithify.streams import keys
from tests.integration.whole_app import PARAMETER, ServedApp, whole_app

INGEST, READ, ADMIN = KeyScope.INGEST, KeyScope.READ, KeyScope.ADMIN
SECRET = "zebra"  # noqa: S105 - a word that only one tenant ever said
WORDS = f"the {SECRET} moved to Lisbon"

Route = tuple[str, str]
"""Method and path."""

Things = Mapping[str, str]
"""Every id that exists at the tenant who is spied upon, by the name of the path parameter that takes it."""


def nothing(_: Things) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Probe:
    """How the other tenant asks for what is not its own, and which answers are right."""

    scope: KeyScope
    answers: frozenset[int] = frozenset({404})
    body: Callable[[Things], Any] = nothing
    query: tuple[str, ...] = ()


def turn(things: Things) -> dict[str, str]:
    return {
        "event_id": things["event_id"],
        "user": things["user"],
        "session": things["session"],
        "role": "user",
        "text": "something else",
    }


def question(things: Things) -> dict[str, str]:
    return {"query": WORDS, "user": things["user"], "session": things["session"]}


def memory(things: Things) -> dict[str, str]:
    return {"text": "something else", "user": things["user"], "event_id": things["event_id"]}


def exported(things: Things) -> dict[str, Any]:
    """A line of another tenant's export, with its ids."""
    return memory(things) | {"id": things["memory_id"], "kind": "turn", "scope": "session", "ts": 1, "active": True}


OK, CREATED, ACCEPTED = frozenset({200}), frozenset({201}), frozenset({202})
# What is about the whole installation, and the operator's alone.
REFUSED = frozenset({403})
# Every route of the node. A new one is refused by the test below until it has its line here.
PROBES: dict[Route, Probe] = {
    ("GET", "/v1/receipts/{event_id}"): Probe(READ),
    ("POST", "/v1/search"): Probe(READ, OK, question),
    ("POST", "/v1/assemble"): Probe(READ, OK, lambda things: question(things) | {"token_budget": 2000}),
    ("GET", "/v1/traces/{trace_id}"): Probe(READ),
    ("GET", "/v1/memories/{memory_id}"): Probe(READ),
    ("POST", "/v1/memories/{memory_id}:expand"): Probe(READ, body=lambda _: {}),
    ("GET", "/v1/sessions/{session}/compact"): Probe(READ, query=("user",)),
    ("GET", "/v1/authored"): Probe(READ, OK),
    ("GET", "/v1/authored/{name}"): Probe(READ),
    ("DELETE", "/v1/authored/{name}"): Probe(ADMIN),
    ("GET", "/v1/docs"): Probe(READ, OK),
    ("GET", "/v1/docs/lane"): Probe(READ, OK),
    ("POST", "/v1/docs/search"): Probe(READ, OK, lambda _: {"query": WORDS}),
    ("POST", "/v1/docs/search/{trace_id}:replay"): Probe(READ),
    ("GET", "/v1/docs/{repo}:digests"): Probe(READ, OK),
    ("GET", "/v1/docs/{repo}:rulings"): Probe(READ, OK),
    ("GET", "/v1/docs/{repo}/{path}"): Probe(READ),
    ("POST", "/v1/docs/{repo}/{path}:promote"): Probe(ADMIN, body=lambda _: {"by": "spy", "why": "because"}),
    ("DELETE", "/v1/docs/{repo}/{path}"): Probe(ADMIN),
    ("DELETE", "/v1/docs/{repo}"): Probe(ADMIN),
    ("GET", "/v1/status"): Probe(READ, OK),
    ("GET", "/v1/sessions"): Probe(READ, OK, query=("user",)),
    ("GET", "/v1/sessions/{session}/timeline"): Probe(READ, OK, query=("user",)),
    ("GET", "/v1/overview"): Probe(ADMIN, REFUSED),
    ("GET", "/v1/streams"): Probe(ADMIN, REFUSED),
    ("GET", "/v1/workers"): Probe(ADMIN, REFUSED),
    ("GET", "/v1/jobs"): Probe(ADMIN, OK),
    ("GET", "/v1/jobs/{job_id}"): Probe(ADMIN),
    ("POST", "/v1/jobs/{job_id}:retry"): Probe(ADMIN),
    ("GET", "/metrics"): Probe(ADMIN, REFUSED),
    ("GET", "/openapi.json"): Probe(READ, OK),
    ("POST", "/v1/maintenance/backfill"): Probe(ADMIN, REFUSED),
    ("GET", "/v1/dead-letters"): Probe(ADMIN, OK),
    ("GET", "/v1/dead-letters/{letter_id}"): Probe(ADMIN),
    ("POST", "/v1/dead-letters:redrive"): Probe(ADMIN, OK, lambda things: {"ids": [things["letter_id"]]}),
    ("POST", "/v1/dead-letters:purge"): Probe(ADMIN, OK, lambda things: {"ids": [things["letter_id"]]}),
    ("POST", "/v1/keys"): Probe(ADMIN, CREATED, lambda _: {"scopes": ["read"]}),
    ("GET", "/v1/keys"): Probe(ADMIN, OK),
    ("DELETE", "/v1/keys/{key_id}"): Probe(ADMIN),
    ("GET", "/v1/export"): Probe(ADMIN, OK, query=("user",)),
    ("DELETE", "/v1/memories/{memory_id}"): Probe(ADMIN),
    ("GET", "/v1/forgettings/{forgetting_id}"): Probe(ADMIN),
    # Last: from here on the spy has an event, a memory, a document and a job of that name, too.
    ("PUT", "/v1/authored/{name}"): Probe(ADMIN, CREATED, lambda _: {"text": "- Never shout."}),
    ("PUT", "/v1/docs/{repo}/{path}"): Probe(ADMIN, CREATED, lambda _: {"text": "# Nothing of yours"}),
    ("POST", "/v1/docs/{repo}:batch"): Probe(ADMIN, OK, lambda things: {"remove": [things["path"]], "version": "1"}),
    ("POST", "/v1/memories"): Probe(INGEST, CREATED, memory),
    ("POST", "/v1/sessions/{session}/compact"): Probe(INGEST, ACCEPTED, lambda things: {"user": things["user"]}),
    ("POST", "/v1/turns"): Probe(INGEST, ACCEPTED, turn),
    ("POST", "/v1/turns:batch"): Probe(INGEST, ACCEPTED, lambda things: {"turns": [turn(things)]}),
    ("POST", "/v1/import"): Probe(ADMIN, OK, lambda things: {"records": [exported(things)]}),
    ("DELETE", "/v1/sessions/{session}"): Probe(ADMIN, ACCEPTED, query=("user",)),
    ("DELETE", "/v1/users/{user}"): Probe(ADMIN, ACCEPTED),
    ("DELETE", "/v1/sources/{source_ref}"): Probe(ADMIN, ACCEPTED),
}
# For load balancers, which have no key: whether the process is well. The header is the same words for everybody, and
# so is the page of the reference, which asks for a key itself.
OPEN = {("GET", "/livez"), ("GET", "/readyz"), ("GET", "/v1/header"), ("GET", "/docs"), ("GET", "/docs/{name}")}


async def call(http: httpx.AsyncClient, route: Route, things: Things) -> httpx.Response:
    method, template = route
    path = PARAMETER.sub(lambda match: things[match[1]], template)
    probe = PROBES[route]
    query = {name: things[name] for name in probe.query}
    return await http.request(method, path, json=probe.body(things), params=query)


async def ask(http: httpx.AsyncClient, things: Things, *route: str) -> Any:
    method, path = route
    answer = await call(http, (method, path), things)
    assert answer.status_code in {200, 201, 202}, answer.text
    return answer.json()


@pytest_asyncio.fixture
async def app(redis_url: str, tmp_path: Path) -> AsyncIterator[ServedApp]:
    async with whole_app(redis_url, tmp_path) as served:
        yield served


# What the victim reads of its own; all but the last two hold the secret.
OWN = (
    "/v1/traces/{trace_id}",
    "/v1/dead-letters/{letter_id}",
    "/v1/memories/{memory_id}",
    "/v1/authored/{name}",
    "/v1/docs/{repo}/{path}",
    "/v1/receipts/{event_id}",
    "/v1/keys",
)


@dataclass(frozen=True, slots=True)
class Victim:
    """A tenant with something of everything, and a client of its own."""

    http: httpx.AsyncClient
    things: Things

    async def sees(self) -> list[Any]:
        """All it has, as it would notice any change."""
        found = await ask(self.http, self.things, "POST", "/v1/search")
        return [
            [(hit["id"], hit["text"]) for hit in found["hits"]],
            *[await ask(self.http, self.things, "GET", path) for path in OWN],
            (await ask(self.http, self.things, "GET", "/v1/status"))["store"]["memories"],
        ]


@pytest_asyncio.fixture
async def victim(app: ServedApp) -> AsyncIterator[Victim]:
    key = await app.key("acme", ADMIN)
    credential = Credential.parse(key)
    assert credential is not None
    ids = {"event_id": "e1", "user": "ada", "session": "s1", "key_id": credential.id, "name": "AGENTS.md"}
    async with app.client(key) as http:
        told = turn(ids) | {"text": WORDS, "source_ref": "origin"}
        answer = await http.post("/v1/turns", params={"wait": "searchable"}, json=told)
        assert answer.json()["searchable"]
        assert (await http.put(f"/v1/authored/{ids['name']}", json={"text": f"- Feed the {SECRET}."})).is_success
        ids |= {"repo": "handbook", "path": "DECISIONS/0001.md"}
        assert (await http.put(f"/v1/docs/{ids['repo']}/{ids['path']}", json={"text": f"# The {SECRET}"})).is_success
        found = await ask(http, ids, "POST", "/v1/search")
        letter = Event("e2", "acme", "ada", "s1", "user", WORDS, ts=1)
        await app.redis.xadd(keys.dead(0), {"event": encode_event(letter), "seq": 2}, id="5-0")
        forgetting = (await http.delete("/v1/sessions/another", params={"user": "ada"})).json()["id"]
        ids |= {"source_ref": "origin", "forgetting_id": forgetting, "job_id": forgetting}
        ids |= {"letter_id": "0-5-0", "trace_id": found["trace_id"], "memory_id": found["hits"][0]["id"]}
        yield Victim(http, ids)


@pytest_asyncio.fixture
async def spy(app: ServedApp) -> AsyncIterator[httpx.AsyncClient]:
    """May do everything in its own tenant."""
    async with app.client(await app.key("globex", ADMIN)) as http:
        yield http


async def test_every_route_of_the_node_has_its_line_in_the_table(app: ServedApp) -> None:
    assert app.routes() == PROBES.keys() | OPEN


async def test_whoever_owns_the_ids_sees_the_secret_with_them(victim: Victim) -> None:
    """Else the other tests of this file would prove nothing."""
    seen = await victim.sees()
    assert [SECRET in str(part) for part in seen] == [True] * 6 + [False] * 3


async def test_a_guessed_id_shows_and_changes_nothing_of_another_tenant(victim: Victim, spy: httpx.AsyncClient) -> None:
    before = await victim.sees()
    for route, probe in PROBES.items():
        answer = await call(spy, route, victim.things)
        assert answer.status_code in probe.answers, (route, answer.text)
        assert SECRET not in answer.text, route
        assert "acme" not in answer.text, route
        # A refusal may repeat the id it was asked for.
        assert answer.is_error or victim.things["memory_id"] not in answer.text, route
        assert await victim.sees() == before, route


async def test_every_route_asks_for_a_key(app: ServedApp, victim: Victim) -> None:
    for key in (None, Credential.new().reveal(), f"lf_{victim.things['key_id']}_{'0' * 64}"):
        async with app.client(key) as http:
            await assert_refused(http, 401, victim, PROBES)


async def test_no_route_reads_the_body_of_a_stranger(app: ServedApp, victim: Victim) -> None:
    async def body() -> AsyncIterator[bytes]:
        read.append(route)
        yield b"{}"

    async with app.client() as http:
        for route in PROBES:
            read: list[Route] = []
            path = PARAMETER.sub(lambda match: victim.things[match[1]], route[1])
            request = http.build_request(route[0], path, content=body(), headers={"content-type": "application/json"})
            assert (await http.send(request)).status_code == 401, route
            assert read == [], route


async def test_every_route_asks_for_its_scope(app: ServedApp, victim: Victim) -> None:
    for scope in (INGEST, READ):
        async with app.client(await app.key("acme", scope)) as http:
            await assert_refused(http, 403, victim, [route for route, probe in PROBES.items() if probe.scope != scope])


async def test_every_route_refuses_a_request_that_names_another_tenant(victim: Victim, spy: httpx.AsyncClient) -> None:
    spy.headers["X-Lithify-Tenant"] = "acme"
    await assert_refused(spy, 403, victim, PROBES)


async def assert_refused(http: httpx.AsyncClient, status: int, victim: Victim, routes: Iterable[Route]) -> None:
    before = await victim.sees()
    for route in routes:
        answer = await call(http, route, victim.things)
        assert answer.status_code == status, (route, answer.text)
        assert answer.headers["content-type"] == "application/problem+json", route
        assert SECRET not in answer.text, route
    assert await victim.sees() == before


async def test_both_tenants_may_use_the_same_ids(victim: Victim, spy: httpx.AsyncClient) -> None:
    answer = await spy.post("/v1/turns", params={"wait": "searchable"}, json=turn(victim.things))
    assert (answer.status_code, answer.json()["searchable"]) == (202, True)
    hits = (await ask(spy, victim.things, "POST", "/v1/search"))["hits"]
    assert [hit["text"] for hit in hits] == ["something else"]
    assert SECRET in str(await victim.sees())


async def test_the_status_of_a_tenant_tells_nothing_of_others_and_the_operators_tells_all(
    app: ServedApp, victim: Victim, spy: httpx.AsyncClient
) -> None:
    told = await ask(spy, victim.things, "GET", "/v1/status")
    assert (told["streams"], told["workers"], told["dead_letters"], told["store"]["memories"]) == ([], [], 0, 0)
    own = await ask(victim.http, victim.things, "GET", "/v1/status")
    assert (own["streams"], own["dead_letters"]) == ([], 1)
    async with app.client(await app.key("default", ADMIN)) as operator:
        whole = await ask(operator, victim.things, "GET", "/v1/status")
        assert whole["streams"]
        for path in ("/v1/overview", "/v1/streams", "/v1/workers", "/metrics"):
            assert (await operator.get(path)).status_code == 200, path
        assert (await operator.get("/v1/dead-letters")).json()["letters"] == []
    async with app.client(await app.key("default", READ)) as reader:
        assert (await reader.get("/v1/overview")).status_code == 403


async def test_a_memory_for_all_users_needs_an_administrator(app: ServedApp) -> None:
    shared = {"text": "Be kind.", "scope": "global"}
    async with app.client(await app.key("acme", INGEST, READ)) as writer:
        assert (await writer.post("/v1/memories", json=shared)).status_code == 403
        assert (await writer.post("/v1/memories", json={"text": "Be kind.", "user": "ada"})).status_code == 201
    async with app.client(await app.key("acme", ADMIN)) as admin:
        assert (await admin.post("/v1/memories", json=shared)).status_code == 201


async def test_the_reference_is_a_page_without_foreign_parts_and_its_document_needs_a_key(app: ServedApp) -> None:
    key = await app.key("acme", READ)
    async with app.client() as http:
        page = await http.get("/docs")
        parts = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert "/docs/reference.js" in parts
        assert all(part.startswith(("/", "data:")) for part in parts)
        assert "default-src 'none'" in page.headers["content-security-policy"]
        for part in ("/docs/reference.js", "/docs/reference.css"):
            answer = await http.get(part)
            assert answer.status_code == 200
            assert "://" not in answer.text
        assert (await http.get("/docs/..%2fapp.py")).status_code == 404
        assert (await http.get("/openapi.json")).status_code == 401
    async with app.client(key) as reader:
        assert "/v1/turns" in (await reader.get("/openapi.json")).json()["paths"]


async def test_listings_show_the_own_tenant_only(app: ServedApp, victim: Victim, spy: httpx.AsyncClient) -> None:
    assert (await ask(spy, victim.things, "GET", "/v1/dead-letters"))["letters"] == []
    assert [key["tenant"] for key in (await ask(spy, victim.things, "GET", "/v1/keys"))["keys"]] == ["globex"]
    everything = {"all": True}
    assert (await spy.post("/v1/dead-letters:redrive", json=everything)).json()["redriven"] == 0
    assert (await spy.post("/v1/dead-letters:purge", json=everything)).json()["purged"] == 0
    assert await app.redis.xlen(keys.dead(0)) == 1


async def test_readiness_tells_nothing_about_tenants(app: ServedApp, victim: Victim) -> None:
    async with app.client() as http:
        for _, path in OPEN:
            answer = await http.get(path)
            assert answer.status_code in {200, 404, 503}
            assert "acme" not in answer.text
