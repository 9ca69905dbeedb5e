"""Commands of the terminal against a service on a real port inside the test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import typer
from fastapi import APIRouter
from typer.testing import CliRunner, Result

from lithify.http import create_app
from lithify.node.runtime import listen, serve


@asynccontextmanager
async def served(router: APIRouter) -> AsyncIterator[str]:
    """Yields the address."""
    stop = asyncio.Event()
    with listen("127.0.0.1", 0) as listener:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(serve(create_app("test", [router], 2**20), listener, stop))
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            stop.set()


async def typed(app: typer.Typer, url: str, *words: str, said: str = "") -> Result:
    """What a person types behind the command; it blocks, hence the thread."""
    return await asyncio.to_thread(lambda: CliRunner().invoke(app, [*words, "--url", url], input=said))
