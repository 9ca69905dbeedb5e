"""The processes: everything in one (`lithify up`), or each part on its own (`lithify serve`, `lithify worker`)."""

import asyncio
import socket
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack

import structlog
from fastapi import APIRouter

from lithify.embedder.worker import GROUP as EMBED_GROUP
from lithify.errors import Misconfigured, Unavailable
from lithify.http import create_app
from lithify.node import services
from lithify.node.parts import Queue, open_model, open_queue, open_store
from lithify.node.signals import stop_on_signals
from lithify.node.status import Watched, status_router
from lithify.node.web import listen, serve
from lithify.settings import Settings
from lithify.streams import Consumer, arm, keys, trim

# Streams grow by what is processed in between; at 1,000 turns/s of 1 KiB that is 30 MB.
TRIM_SECONDS = 30

log = structlog.get_logger(__name__)

Announce = Callable[[str], None]
"""Told in words what is running, once it is."""


async def run_node(settings: Settings, announce: Announce) -> None:
    """Everything on one port, until SIGTERM or SIGINT."""
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        model = open_model(settings, stack)
        queue = await open_queue(settings, stack)
        store = await open_store(settings, model.embedder, stack)
        consumers = services.embed_consumers(settings, queue, model, store, stack)
        watched = Watched(queue.redis, settings.partitions, store, model.embedder, consumers)
        routers = [
            services.gateway(settings, queue),
            services.assembly(settings, queue, model, store),
            status_router(watched),
        ]
        announce(model.embedder.manifest.name)
        await run_until_stopped(settings, queue, consumers, routers, listener)


async def run_gateway(settings: Settings, announce: Announce) -> None:
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        queue = await open_queue(scaled_out(settings), stack)
        routers = [services.gateway(settings, queue), status_router(Watched(queue.redis, settings.partitions))]
        announce("gateway")
        await run_until_stopped(settings, queue, (), routers, listener)


async def run_assembly(settings: Settings, announce: Announce) -> None:
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        model = open_model(settings, stack)
        queue = await open_queue(scaled_out(settings), stack)
        store = await open_store(settings, model.embedder, stack)
        watched = Watched(queue.redis, settings.partitions, store, model.embedder)
        routers = [services.assembly(settings, queue, model, store), status_router(watched)]
        announce("assembly")
        await run_until_stopped(settings, queue, (), routers, listener)


async def run_embed_worker(settings: Settings, announce: Announce) -> None:
    async with AsyncExitStack() as stack:
        model = open_model(settings, stack)
        queue = await open_queue(scaled_out(settings), stack)
        store = await open_store(settings, model.embedder, stack)
        consumers = services.embed_consumers(settings, queue, model, store, stack)
        announce("embedding worker")
        await run_until_stopped(settings, queue, consumers, (), None)


def scaled_out(settings: Settings) -> Settings:
    """Parts of one system in several processes can only meet on servers."""
    if settings.redis_url is None or settings.qdrant_url is None:
        raise Misconfigured(
            "a part on its own needs LITHIFY_REDIS_URL and LITHIFY_QDRANT_URL; `lithify up` needs neither"
        )
    return settings


async def run_until_stopped(
    settings: Settings,
    queue: Queue,
    consumers: Sequence[Consumer],
    routers: Sequence[APIRouter],
    listener: socket.socket | None,
) -> None:
    """Drains when told to stop: requests and messages in flight are finished, then this returns."""
    arm(settings.crash_at)
    stop = asyncio.Event()
    stop_on_signals(stop)
    async with asyncio.TaskGroup() as tasks:
        if listener is not None:
            app = create_app("Lithify", routers, settings.max_body_bytes)
            tasks.create_task(serve(app, listener, stop), name="web")
        for consumer in consumers:
            tasks.create_task(consumer.run(), name="consumer")
        keepers = [tasks.create_task(keeper, name="keeper") for keeper in keepers_of(settings, queue, consumers)]
        await stop.wait()
        log.info("draining")
        for consumer in consumers:
            consumer.stop()
        for task in keepers:
            task.cancel()


def keepers_of(settings: Settings, queue: Queue, consumers: Sequence[Consumer]) -> list[Coroutine[None, None, None]]:
    """What runs beside the work: whoever consumes also trims, and an embedded server is watched."""
    keepers: list[Coroutine[None, None, None]] = []
    if consumers:
        keepers.append(keep_trimmed(settings, queue))
    if queue.server is not None:
        keepers.append(queue.server.watch())
    return keepers


async def keep_trimmed(settings: Settings, queue: Queue) -> None:
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        try:
            for partition in range(settings.partitions):
                await trim(queue.redis, keys.turns(partition), {EMBED_GROUP})
        except Unavailable as error:
            log.warning("streams_not_trimmed", reason=str(error))
