"""Sends the figures to open pages every second, as server-sent events."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from lithify.dashboard.authentication import Viewer
from lithify.dashboard.board import board_of
from lithify.errors import Unavailable
from lithify.monitoring.pulse import EVERY_S, Pulse

# Then the browser comes again by itself, and is authenticated again: a revoked key does not look on for ever.
LONGEST_S: Final = 300
RETRY_MS: Final = 2_000


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """Streams the figures to one open page after another."""

    pulse: Pulse

    async def stream(self, request: Request, _viewer: Viewer) -> Response:
        # Set by whoever serves the application, once it is to stop: an open stream must not hold that up.
        stopping: asyncio.Event = getattr(request.app.state, "stopping", None) or asyncio.Event()
        return StreamingResponse(self.events(stopping), media_type="text/event-stream")

    async def events(self, stopping: asyncio.Event) -> AsyncIterator[bytes]:
        """Yields the first at once, then one a second, until the server stops or the viewer is to be checked again."""
        end = time.monotonic() + LONGEST_S
        yield b"retry: %d\n\n" % RETRY_MS
        while not stopping.is_set() and time.monotonic() < end:
            yield await self._event()
            await pause(stopping)

    async def _event(self) -> bytes:
        try:
            return b"data: " + orjson.dumps(asdict(board_of(await self.pulse.read()))) + b"\n\n"
        except Unavailable as error:
            return b"event: trouble\ndata: " + orjson.dumps(str(error)) + b"\n\n"


async def pause(stopping: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(EVERY_S):
            await stopping.wait()
    except TimeoutError:
        return
