"""A body is read only for whoever may send it, and parsing it takes no longer than reading it."""

from collections.abc import MutableMapping
from typing import Annotated, Any

import httpx
import orjson
import pytest
from fastapi import APIRouter, Depends
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from lithify.access import ApiKey, Forbidden, KeyScope, Unauthorised
from lithify.events import TenantScope
from lithify.http import JsonRoute, create_app
from lithify.http.authorization import Access
from lithify.http.body import MAX_CONTAINERS, MAX_STRINGS, refuse_fragments

LIMIT = 2**20


class Body(BaseModel):
    text: str


class TwoKeys:
    """Knows a key that may write and one that may read, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def authenticate(self, presented: str | None, required: KeyScope) -> ApiKey | None:
        self.asked += 1
        if presented is None:
            raise Unauthorised
        key = ApiKey(presented, "acme", "", frozenset({KeyScope(presented)}), created_at=0)
        if not key.allows(required):
            raise Forbidden
        return key


@pytest.fixture
def keys() -> TwoKeys:
    return TwoKeys()


@pytest.fixture
def app(keys: TwoKeys) -> Any:
    access = Access(keys)
    Writer = Annotated[TenantScope, Depends(access.needs(KeyScope.INGEST))]  # noqa: N806 - a type
    router = APIRouter(route_class=JsonRoute)

    @router.post("/parameter")
    async def parameter(body: Body, caller: Writer) -> str:
        return caller.tenant + body.text

    guarded = APIRouter(route_class=JsonRoute, dependencies=[Depends(access.needs(KeyScope.INGEST))])

    @guarded.post("/router")
    async def router_wide(body: Body) -> str:
        return body.text

    return create_app("test", [router, guarded], LIMIT)


async def send_head(app: Any, path: str, **headers: str) -> int:
    """Sends a request whose body never comes; returns the status, or fails if the body is waited for."""
    statuses: list[int] = []
    sent = {"content-type": "application/json", "content-length": "8", **headers}
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
    }

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError("the body was read")

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app(scope, receive, send)
    return statuses[0]


@pytest.mark.parametrize("path", ["/parameter", "/router"])
async def test_the_body_of_a_stranger_is_not_read(app: Any, path: str) -> None:
    assert await send_head(app, path) == 401
    assert await send_head(app, path, authorization="Bearer read") == 403


async def test_a_request_for_another_tenant_is_refused_before_its_body_is_read(app: Any) -> None:
    headers = {"authorization": "Bearer ingest", "x-lithify-tenant": "globex"}
    assert await send_head(app, "/parameter", **headers) == 403


async def test_a_request_is_authenticated_once(app: Any, keys: TwoKeys) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as http:
        answer = await http.post("/parameter", json={"text": "!"}, headers={"Authorization": "Bearer ingest"})
    assert (answer.json(), keys.asked) == ("acme!", 1)


async def test_a_body_that_names_another_tenant_is_refused_when_it_was_read(app: Any) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as http:
        body = {"text": "!", "tenant": "globex"}
        answer = await http.post("/parameter", json=body, headers={"Authorization": "Bearer ingest"})
    assert answer.status_code == 403


FRAGMENTS = {
    "lists": b"[" + b"[]," * (MAX_CONTAINERS + 1) + b"[]]",
    "objects": b"[" + b"{}," * (MAX_CONTAINERS + 1) + b"{}]",
    "names": b"{" + b",".join(b'"a%d":1' % number for number in range(MAX_STRINGS + 1)) + b"}",
    "behind an escaped quote": b'["\\"",' + b"[]," * (MAX_CONTAINERS + 1) + b"[]]",
    "behind an escaped backslash": b'["\\\\",' + b"[]," * (MAX_CONTAINERS + 1) + b"[]]",
    "before an error": b"[" + b"[]," * (MAX_CONTAINERS + 1) + b'"',
    "behind three backslashes": b'["\\\\\\"",' + b"[]," * (MAX_CONTAINERS + 1) + b"[]]",
}


@pytest.mark.parametrize("body", FRAGMENTS.values(), ids=FRAGMENTS.keys())
def test_a_body_of_too_many_parts_is_refused_before_it_is_parsed(body: bytes) -> None:
    with pytest.raises(HTTPException, match="must not hold more"):
        refuse_fragments(body)


@pytest.mark.parametrize(
    "text",
    ["[[],{}] " * 60_000, '"[" ' * 60_000, "\\[{" * 60_000, '\\"[{' * 60_000, "a, b, " * 60_000],
    ids=["brackets", "quotes", "backslashes", "escapes", "commas"],
)
def test_what_stands_inside_a_text_is_no_part(text: str) -> None:
    refuse_fragments(orjson.dumps({"text": text}))


async def test_too_many_parts_are_a_problem_that_names_the_body(app: Any) -> None:
    headers = {"Authorization": "Bearer ingest", "content-type": "application/json"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as http:
        answer = await http.post("/parameter", content=FRAGMENTS["lists"], headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert "body" in answer.json()["detail"]
