"""Errors are problem+json, name the field, and never echo content or internals."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from lithify.errors import Conflict, Invalid, LithifyError, Unavailable
from lithify.http import JsonRoute, NotFound, create_app
from lithify.http.problem import MAX_DETAIL_CHARS

LIMIT = 2048
# As large as the largest body that is parsed.
WIDE_LIMIT = 2**21
FAILURES = {
    "missing": NotFound("no such x"),
    "conflict": Conflict("twice"),
    "invalid": Invalid("bad x"),
    "down": Unavailable("away"),
    "ours": LithifyError("oops"),
    "bug": RuntimeError("secret detail"),
}


class Body(BaseModel):
    count: int


class StrictBody(BaseModel):
    model_config = ConfigDict(extra="forbid")


@pytest.fixture
async def strict() -> AsyncIterator[httpx.AsyncClient]:
    router = APIRouter(route_class=JsonRoute)

    @router.post("/strict")
    async def take(body: StrictBody) -> StrictBody:
        return body

    @router.get("/long")
    async def fail(length: int) -> None:
        raise Invalid("x" * length)

    transport = httpx.ASGITransport(create_app("test", [router], WIDE_LIMIT), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        yield http


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    router = APIRouter(route_class=JsonRoute)

    @router.post("/echo")
    async def echo(body: Body) -> Body:
        return body

    @router.get("/fail/{kind}")
    async def fail(kind: str) -> None:
        raise FAILURES[kind]

    transport = httpx.ASGITransport(create_app("test", [router], LIMIT), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        yield http


@pytest.mark.parametrize(
    ("content", "status", "named"),
    [
        (b"{}", 422, "count"),
        (b'{"count":"x"}', 422, "count"),
        (b"not json", 400, "JSON"),
        (b'{"count":"\xff"}', 400, "JSON"),
        (b"[" * 1500, 400, "JSON"),
        (b"x" * (LIMIT + 1), 413, "body"),
    ],
)
async def test_bad_bodies(client: httpx.AsyncClient, content: bytes, status: int, named: str) -> None:
    response = await client.post("/echo", content=content, headers={"content-type": "application/json"})
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert named in response.json()["detail"]


async def test_a_body_that_hides_its_length_is_still_bounded(client: httpx.AsyncClient) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(8):
            yield b"x" * (LIMIT // 4)

    response = await client.post("/echo", content=chunks(), headers={"content-type": "application/json"})
    assert response.status_code == 413


async def test_a_body_that_is_not_announced_as_json_says_so(client: httpx.AsyncClient) -> None:
    response = await client.post("/echo", content=b'{"count":1}', headers={"content-type": "text/plain"})
    assert response.status_code == 415
    assert "application/json" in response.json()["detail"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [("missing", 404), ("conflict", 409), ("invalid", 422), ("down", 503), ("ours", 500), ("bug", 500)],
)
async def test_each_kind_of_failure_has_its_status(client: httpx.AsyncClient, kind: str, status: int) -> None:
    response = await client.get(f"/fail/{kind}")
    assert response.status_code == response.json()["status"] == status
    assert "secret" not in response.text


async def test_an_outage_says_when_to_come_back(client: httpx.AsyncClient) -> None:
    assert int((await client.get("/fail/down")).headers["retry-after"]) > 0


async def test_unknown_paths_are_problems_too(client: httpx.AsyncClient) -> None:
    response = await client.get("/nowhere")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "body",
    [{f"field{number}": 1 for number in range(90_000)}, {"😀" * 250_000: 1}, {"\u0000": 1, "\n" * 9_000: 2}],
    ids=["many fields", "a long name", "control characters"],
)
async def test_a_refusal_stays_small_whatever_it_refuses(strict: httpx.AsyncClient, body: dict[str, int]) -> None:
    response = await strict.post("/strict", json=body)
    assert response.status_code == 422
    assert len(response.content) < 16_384
    told = response.json()
    assert len(told["errors"]) + told.get("omitted_errors", 0) == len(body)


async def test_a_long_reason_is_cut(strict: httpx.AsyncClient) -> None:
    assert len((await strict.get("/long", params={"length": 100_000})).json()["detail"]) == MAX_DETAIL_CHARS
