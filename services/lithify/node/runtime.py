"""What every process of ours runs on: its event loop, its signals, its web server, and the order of its end."""

import asyncio
import os
import resource
import signal
import socket
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

import structlog
import uvicorn
from fastapi import APIRouter, FastAPI

from lithify.access import ApiKeyAuthenticator, is_loopback
from lithify.errors import LithifyError, Misconfigured
from lithify.events import system_clock
from lithify.http import create_app
from lithify.http.connection import ConnectionLimits, bound_protocol
from lithify.http.origin import KeylessRule
from lithify.operations.metrics import SystemLevels
from lithify.operations.probes import HealthChecks
from lithify.operations.router import probe_app
from lithify.settings import Settings
from lithify.streams import arm
from lithify.streams.connection import end_tasks

GRACE_SECONDS: Final = 10
EXIT_AT_ONCE: Final = 130
# More than any limit of connections needs; some systems allow a billion, and tables as large.
MOST_FILES: Final = 65_536
DEFAULT_LIMITS: Final = ConnectionLimits()

T = TypeVar("T")

log = structlog.get_logger(__name__)


class Worker(Protocol):
    """Runs until stopped, and then finishes what it has begun."""

    async def run(self) -> None: ...

    def stop(self) -> None: ...


@dataclass(slots=True)
class Workload:
    """Lists what a process does until it is stopped: answer, work, and what goes on in the background beside that.

    `checks` and `levels` are what its port for probes and metrics tells. Without an `authenticator` everybody who
    reaches the routes is taken for somebody without a key.
    """

    checks: HealthChecks
    routers: list[APIRouter] = field(default_factory=list)
    authenticator: ApiKeyAuthenticator | None = None
    workers: list[Worker] = field(default_factory=list)
    background: list[Coroutine[Any, Any, None]] = field(default_factory=list)
    levels: SystemLevels | None = None


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs like `asyncio.run`. An answer takes about a twentieth less time on uvloop, which knows no Windows."""
    try:
        import uvloop  # noqa: PLC0415 - see above
    except ImportError:
        return asyncio.run(main)
    return uvloop.run(main)


async def run_until_stopped(settings: Settings, workload: Workload, listener: socket.socket | None = None) -> None:
    """Drains when a signal says stop: requests and messages in flight are finished, then this returns.

    Raises the first error of ours that ended a worker or a background task; nothing goes on without them.
    """
    arm(settings.crash_at)
    stop = asyncio.Event()
    drained = asyncio.Event()
    stop_on_signals(stop)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(answer_probes(settings, workload, drained), name="operations")
            background = [tasks.create_task(task, name="background") for task in workload.background]
            work = [tasks.create_task(worker.run(), name=type(worker).__name__) for worker in workload.workers]
            if listener is not None:
                app = create_app("Lithify", workload.routers, settings.max_body_bytes, keyless_rule(settings, workload))
                work.append(tasks.create_task(serve_by(settings, app, listener, stop), name="web"))
            await stop.wait()
            log.info("draining")
            for worker in workload.workers:
                worker.stop()
            await asyncio.gather(*work)
            # Last: a draining worker still lives, and its queue is still needed.
            await end_tasks(background)
            drained.set()
    except ExceptionGroup as group:
        ours = group.subgroup(LithifyError)
        raise group if ours is None else ours.exceptions[0] from group


def stop_on_signals(stop: asyncio.Event) -> None:
    """Sets `stop` on the first SIGTERM or SIGINT; the second ends the process without cleaning up."""

    def on_signal() -> None:
        if stop.is_set():
            os._exit(EXIT_AT_ONCE)
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)


async def answer_probes(settings: Settings, workload: Workload, drained: asyncio.Event) -> None:
    """Answers probes and scrapes until the last of the work is done, where the settings open a port for them."""
    if not settings.metrics_port:
        return
    # It never asks for a key. Reached from elsewhere it has names that we do not know, and no secrets.
    rule = keyless_rule(settings) if is_loopback(settings.host) else None
    app = probe_app(workload.checks, workload.levels, system_clock, settings.max_body_bytes, rule)
    with listen(settings.host, settings.metrics_port, "LITHIFY_METRICS_PORT") as listener:
        await serve_by(settings, app, listener, drained)


def keyless_rule(settings: Settings, workload: Workload | None = None) -> KeylessRule:
    """Returns when to refuse foreign web pages: while the authenticator asks nobody for a key, or always."""

    async def always() -> bool:
        return True

    authenticator = None if workload is None else workload.authenticator
    return KeylessRule.of(always if authenticator is None else authenticator.is_keyless, settings.allowed_hosts)


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


async def serve(
    app: FastAPI,
    listener: socket.socket,
    stop: asyncio.Event,
    limits: ConnectionLimits = DEFAULT_LIMITS,
    trusted_proxies: Sequence[str] = (),
) -> None:
    """Serves until `stop` is set, then lets running requests finish."""
    config = uvicorn.Config(
        app,
        http=bound_protocol(limits),
        ws="none",
        forwarded_allow_ips=list(trusted_proxies),
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


async def serve_by(settings: Settings, app: FastAPI, listener: socket.socket, stop: asyncio.Event) -> None:
    """Serves with the limits that the settings set."""
    await serve(app, listener, stop, connection_limits(settings), settings.trusted_proxies)


def connection_limits(settings: Settings) -> ConnectionLimits:
    """Returns the limits of the settings; connections leave half of the files a process may open to everything else."""
    return ConnectionLimits(
        header_bytes=settings.max_header_bytes,
        header_s=settings.header_timeout_s,
        body_s=settings.body_timeout_s,
        connections=min(settings.max_connections, max(1, raise_file_limit() // 2)),
        requests=settings.max_requests,
    )


def raise_file_limit() -> int:
    """Allows this process as many open files as it may allow itself; returns how many these are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


async def _stop_when(server: WebServer, stop: asyncio.Event) -> None:
    await stop.wait()
    server.should_exit = True
