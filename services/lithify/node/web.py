"""Runs an ASGI application inside a process that owns its own signals."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from lithify.errors import Misconfigured

GRACE_SECONDS = 10


class WebServer(uvicorn.Server):
    """uvicorn without its signal handlers: the process decides when to stop, and in which order."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen(host: str, port: int, setting: str = "LITHIFY_PORT") -> socket.socket:
    """Takes the port before anything slow starts. Raises Misconfigured when another process has it."""
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise Misconfigured(f"cannot listen on {host}:{port}: {error.strerror} (choose another {setting})") from error
    # Accepted connections inherit it. asyncio sets it only where the socket names its protocol, which this one does
    # not; without it every answer on a kept connection waits 40 ms for the other side's delayed acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


async def serve(app: FastAPI, listener: socket.socket, stop: asyncio.Event) -> None:
    """Serves until `stop` is set, then lets running requests finish."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = WebServer(config)
    # For answers that go on until they are told to end, as the dashboard's live figures.
    app.state.stopping = stop
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_stop_when(server, stop), name="web-stop")
        await server.serve(sockets=[listener])
        stop.set()


async def _stop_when(server: WebServer, stop: asyncio.Event) -> None:
    await stop.wait()
    server.should_exit = True
