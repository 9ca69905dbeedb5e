"""The event loop of every process of ours: the quicker one, where the platform has it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Like `asyncio.run`. An answer takes about a twentieth less time on uvloop, which knows no Windows."""
    try:
        import uvloop  # noqa: PLC0415 - see above
    except ImportError:
        return asyncio.run(main)
    return uvloop.run(main)
