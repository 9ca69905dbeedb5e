"""Ends tasks for sure: on Python 3.11 `asyncio.wait_for`, through which redis-py sends, may swallow a cancellation."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

# How long a task may take to end before it is cancelled again.
AGAIN_S: Final = 0.5


async def end_tasks(tasks: "Iterable[asyncio.Task[Any]]") -> None:
    """Cancel until they are done; their results and errors are left to whoever owns them."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=AGAIN_S)
