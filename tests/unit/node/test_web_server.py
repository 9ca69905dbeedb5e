"""How a process serves: whose word about the visitor it takes, and how many connections it can afford."""

import asyncio
import resource
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import APIRouter, Request

from lithify.http import create_app
from lithify.node.runtime import connection_limits, listen, serve
from lithify.settings import Settings


@asynccontextmanager
async def serving(trusted_proxies: Sequence[str]) -> AsyncIterator[httpx.AsyncClient]:
    router = APIRouter()
    stop = asyncio.Event()

    @router.get("/scheme")
    async def scheme(request: Request) -> str:
        return request.url.scheme

    with listen("127.0.0.1", 0) as listener:
        async with asyncio.TaskGroup() as tasks:
            app = create_app("test", [router], 1024)
            tasks.create_task(serve(app, listener, stop, trusted_proxies=trusted_proxies))
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}") as http:
                yield http
            stop.set()


@pytest.mark.parametrize(
    ("trusted", "believed"),
    [(["127.0.0.1"], "https"), (["127.0.0.0/8"], "https"), (["10.0.0.0/8"], "http"), ([], "http")],
)
async def test_only_a_trusted_proxy_says_that_the_visitor_came_by_https(trusted: list[str], believed: str) -> None:
    async with serving(trusted) as http:
        answer = await http.get("/scheme", headers={"X-Forwarded-Proto": "https"})
    assert answer.json() == believed


def test_connections_leave_half_of_the_files_to_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 512))
    set_to: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: set_to.append(limits))
    assert connection_limits(Settings(max_connections=1_000)).connections == 256
    assert set_to == [(512, 512)]
    assert connection_limits(Settings(max_connections=100)).connections == 100
