"""Each verb asks for the right thing and gives back a typed, frozen answer."""

from dataclasses import FrozenInstanceError
from typing import Any

import httpx
import orjson
import pytest

from lithify.client import AsyncMemory, Memory, Receipt, Record, Refused
from lithify.client.connection import Connection
from tests.unit.client.client_parts import ACCEPTED, KINDS, TURN, URL, Service, ask, problem

HIT = {
    "id": "p",
    "event_id": "e",
    "kind": "turn",
    "score": 0.5,
    "components": {"dense": 1.0},
    "text": "hello",
    "role": "user",
    "user": "ada",
    "session": "s",
    "ts": 1,
    "seq": 2,
}
ENTRY = {"id": "p", "event_id": None, "text": "hello", "role": "user", "source": "recalled", "tokens": 3}
CONTEXT = {
    "text": "<x>",
    "blocks": [{"name": "tail", "entries": [ENTRY]}],
    "messages": [],
    "tokens": 3,
    "degraded": [],
    "trace_id": "t",
}
RECORD = {"id": "p", "kind": "memory", "scope": "user", "user": "u", "ts": 1, "text": "x", "active": True}
DOCUMENT = {"name": "AGENTS.md", "core": True, "hash": "h", "bytes": 1, "updated_at": 1}
RAW = {"id": "q", "event_id": "e1", "session": "s", "role": "user", "ts": 1, "text": "x"}
CHOICES = {
    "session": "s",
    "only_session": True,
    "min_score": 0.1,
    "fusion": "weighted",
    "vector_weight": 0.5,
    "multiplier": 8,
    "decay": True,
    "half_life_days": 7.0,
    "mmr": True,
    "relevance_share": 0.5,
    "threshold": 0.1,
}
PROMPT = {"user": "u", "session": "s", "token_budget": 9}

VERBS: list[tuple[str, tuple[Any, ...], dict[str, Any], Any, str, Any]] = [
    ("ingest", (), TURN | {"event_id": "e"}, ACCEPTED, "POST /v1/turns", TURN | {"event_id": "e"}),
    ("ingest", (), TURN | {"event_id": "e", "wait": True}, ACCEPTED, "POST /v1/turns?wait=searchable", ...),
    ("receipt", ("a/b c:d?",), {}, {"event_id": "e", "stream_id": "1-0", "seq": 1, "accepted_at": 5},
     "GET /v1/receipts/a%2Fb%20c%3Ad%3F", None),
    ("search", ("x",), {"user": "u", "limit": 3}, {"hits": [HIT], "degraded": [], "trace_id": "t"},
     "POST /v1/search", {"query": "x", "user": "u", "limit": 3}),
    ("search", ("x",), CHOICES, {"hits": [HIT], "degraded": [], "trace_id": "t"},
     "POST /v1/search", {"query": "x"} | CHOICES),
    ("assemble", (), PROMPT, CONTEXT, "POST /v1/assemble", PROMPT | {"messages": []}),
    ("trace", ("t",), {}, {"kind": "search"}, "GET /v1/traces/t", None),
    ("remember", ("x",), {"user": "u"}, {"id": "p", "event_id": "e", "status": "stored"},
     "POST /v1/memories", {"text": "x", "scope": "user", "user": "u"}),
    ("remember", ("x",), {}, {"id": "p", "event_id": "e", "status": "duplicate"},
     "POST /v1/memories", {"text": "x", "scope": "global"}),
    ("read", ("p",), {}, RECORD, "GET /v1/memories/p", None),
    ("forget", ("p",), {}, {"removed": 1}, "DELETE /v1/memories/p", None),
    ("forget_session", ("s",), {"user": "u"}, {"removed": 1}, "DELETE /v1/sessions/s?user=u", None),
    ("forget_user", ("u",), {"wait": True}, {"removed": 1}, "DELETE /v1/users/u?wait=true", None),
    ("expand", ("p",), {}, {"id": "p", "turns": [RAW], "missing": ["e2"]}, "POST /v1/memories/p:expand", {}),
    ("compact", ("s",), {"user": "u"}, {"job_id": "j", "is_new": True}, "POST /v1/sessions/s/compact", {"user": "u"}),
    ("put_document", ("a/b.md", "# x"), {}, DOCUMENT, "PUT /v1/authored/a%2Fb.md", {"text": "# x"}),
    ("document", ("AGENTS.md",), {}, DOCUMENT | {"text": "# x"}, "GET /v1/authored/AGENTS.md", None),
    ("delete_document", ("AGENTS.md",), {}, {"name": "AGENTS.md"}, "DELETE /v1/authored/AGENTS.md", None),
    ("status", (), {}, {"ready": True}, "GET /v1/status", None),
    ("request_json", ("GET", "/v1/jobs"), {"params": {"status": "failed", "queue": None, "limit": 5}}, [],
     "GET /v1/jobs?status=failed&limit=5", None),
    ("request_json", ("POST", "/v1/import", {"records": []}), {}, {"stored": 0}, "POST /v1/import", {"records": []}),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("verb", "args", "given", "answer", "line", "body"), VERBS)
async def test_a_verb_is_one_request(
    kind: str, verb: str, args: tuple[Any, ...], given: dict[str, Any], answer: Any, line: str, body: Any
) -> None:
    service = Service(httpx.Response(200, json=answer))
    await ask(kind, service, verb, *args, **given, options={"api_key": "lf_a_b"})
    [request] = service.asked
    assert f"{request.method} {request.url.raw_path.decode()}" == line
    assert request.headers["authorization"] == "Bearer lf_a_b"
    if body is not ...:
        assert (orjson.loads(request.content) if request.content else None) == body


async def test_answers_are_typed_and_frozen_and_what_is_new_in_them_is_ignored() -> None:
    told = {"event_id": "e", "stream_id": "1-0", "seq": 1, "accepted_at": 5, "promoted": True, "later": "x"}
    receipt = await ask("blocking", Service(httpx.Response(200, json=told)), "receipt", "e")
    assert receipt == Receipt("e", "1-0", 1, 5, promoted=True)
    record = await ask("async", Service(httpx.Response(200, json=RECORD)), "read", "p")
    assert isinstance(record, Record)
    with pytest.raises(FrozenInstanceError):
        record.text = "other"  # type: ignore[misc]  # what is tested
    context = await ask("async", Service(httpx.Response(200, json=CONTEXT)), "assemble", **PROMPT)
    assert context.blocks[0].entries[0].tokens == 3


@pytest.mark.parametrize("content", [b"<html>", b"[]", b'{"hits": 1}'])
async def test_something_else_behind_the_address_is_told_apart(content: bytes) -> None:
    with pytest.raises(Refused):
        await ask("blocking", Service(httpx.Response(200, content=content)), "search", "x")


def test_both_clients_have_the_same_verbs_and_every_verb_is_tested() -> None:
    def verbs(client: type) -> set[str]:
        return {name for name in vars(client) if not name.startswith("_")} - {"do", "close", "stream"}

    assert verbs(Memory) == verbs(AsyncMemory)
    assert verbs(Memory) - {"ingest_batch"} == {row[0] for row in VERBS}


def test_a_large_answer_is_read_in_parts() -> None:
    service = Service(httpx.Response(200, content=b"one\ntwo\n", headers={"x-total-count": "2"}))
    client = Memory(URL, transport=httpx.MockTransport(service))
    with client as memory, memory.stream("/v1/export", {"user": "ada"}) as response:
        assert (response.headers["x-total-count"], b"".join(response.iter_bytes())) == ("2", b"one\ntwo\n")
    assert service.asked[0].url.raw_path == b"/v1/export?user=ada"


def test_a_large_answer_that_is_refused_is_told_in_the_words_of_the_service() -> None:
    client = Memory(URL, transport=httpx.MockTransport(Service(problem(403))))
    with client as memory, pytest.raises(Refused, match="the reason"), memory.stream("/v1/export", {}):
        pass


def test_a_connection_does_not_print_its_key() -> None:
    assert "secret" not in repr(Connection("http://x", api_key="lf_a_secret"))
