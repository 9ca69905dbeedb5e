"""The processes: everything in one (`lithify up`), or each part on its own (`lithify serve`, `lithify worker`)."""

import asyncio
import socket
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

import structlog
from fastapi import APIRouter

from lithify.access import ApiKeyAuthenticator
from lithify.compaction import QUEUE as COMPACTION
from lithify.errors import LithifyError, Misconfigured
from lithify.events import system_clock
from lithify.forgetting import QUEUE as FORGETTING
from lithify.gateway.back_pressure import BackPressure
from lithify.http import create_app
from lithify.http.app import reference_router
from lithify.http.authorization import Access
from lithify.jobs import open_connection
from lithify.node import jobs, services, workers
from lithify.node.dashboard import dashboard
from lithify.node.parts import Model, RedisParts, connect_store, open_model, open_redis, open_store, open_summariser
from lithify.node.redis_server import EmbeddedRedis, ServerDied
from lithify.node.signals import stop_on_signals
from lithify.node.web import listen, serve
from lithify.operations.metrics import Gauges, metrics_router
from lithify.operations.probes import operations_app
from lithify.operations.status import Watched, status_router
from lithify.settings import Settings
from lithify.store import VectorStore
from lithify.streams import Consumer, Janitor, arm, keep_beating
from lithify.streams.connection import end_tasks

# A server that cannot live must not be started in a tight loop.
RESTART_PAUSE_S = 1.0

log = structlog.get_logger(__name__)

Announce = Callable[[str], None]
"""Told in words what is running, once it is."""


class Worker(Protocol):
    """Runs until stopped, and then finishes what it has begun."""

    async def run(self) -> None: ...

    def stop(self) -> None: ...


@dataclass(slots=True)
class Duties:
    """What a process does until it is stopped: answer, work, and what must be kept going beside that."""

    routers: list[APIRouter] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    keepers: list[Coroutine[Any, Any, None]] = field(default_factory=list)
    watched: Watched | None = None
    gauges: Gauges | None = None


async def run_node(settings: Settings, announce: Announce) -> None:
    """Everything on one port, until SIGTERM or SIGINT."""
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        # The model first: it is the likeliest to be missing, and nothing runs yet that would need stopping.
        model = open_model(settings, stack)
        redis = await open_redis(settings, stack)
        door = await services.door(settings, redis)
        store = await open_store(settings, model.embedder, stack)
        parts = jobs.JobParts(settings, redis, model, store, open_summariser(settings))
        consumers = [
            *workers.embed_consumers(settings, redis, model, store, stack),
            workers.gate_consumer(settings, redis, model, store, stack),
            *workers.compaction_triggers(settings, redis, stack),
        ]
        keepers, seal = [], None
        if settings.archive:
            archive, archiving = await workers.archiver(settings, redis, stack)
            consumers.append(archiving)
            keepers.append(archive.keep_sealed())
            seal = archive.seal
        watched = Watched(redis.client, settings.partitions, store, model.embedder, consumers)
        valve = services.valve(settings, redis)
        gauges = system_gauges(settings, redis, stack)
        routers, watching = await node_routers(settings, redis, model, store, watched, valve, door, stack, gauges)
        duties = Duties(
            routers,
            [
                *consumers,
                *jobs.job_runners(parts, seal, stack),
                jobs.scheduler(settings, redis, stack),
            ],
            [valve.run(), *keepers, *watching, *housekeeping(settings, redis, consumers)],
            watched,
            gauges,
        )
        announce(model.embedder.manifest.name)
        await run_until_stopped(settings, duties, listener)


async def run_gateway(settings: Settings, announce: Announce) -> None:
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        redis = await open_redis(with_redis(settings), stack)
        door = await services.door(settings, redis)
        valve = services.valve(settings, redis)
        watched = Watched(redis.client, settings.partitions)
        routers = [*services.gateway(settings, redis, valve, door), *common_routers(watched, door)]
        announce("gateway")
        await run_until_stopped(settings, Duties(routers, keepers=[valve.run()], watched=watched), listener)


async def run_assembly(settings: Settings, announce: Announce) -> None:
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        model = open_model(settings, stack)
        redis = await open_redis(with_servers(settings), stack)
        door = await services.door(settings, redis)
        store = await open_store(settings, model.embedder, stack)
        watched = Watched(redis.client, settings.partitions, store, model.embedder)
        routers, keepers = await services.assembly(settings, redis, model, store, door, stack)
        announce("assembly")
        duties = Duties([*routers, *common_routers(watched, door)], keepers=keepers, watched=watched)
        await run_until_stopped(settings, duties, listener)


async def run_dashboard(settings: Settings, announce: Announce) -> None:
    if settings.assembly_url is None:
        raise Misconfigured("a dashboard on its own needs LITHIFY_ASSEMBLY_URL, where it asks about memory")
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        redis = await open_redis(with_redis(settings), stack)
        door = await services.door(settings, redis)
        watched = Watched(redis.client, settings.partitions)
        gauges = system_gauges(settings, redis, stack)
        pages = dashboard(settings, redis, door, stack, settings.assembly_url)
        announce("dashboard")
        duties = Duties([*pages, *common_routers(watched, door, gauges)], watched=watched, gauges=gauges)
        await run_until_stopped(settings, duties, listener)


async def run_embed_worker(settings: Settings, announce: Announce) -> None:
    async with AsyncExitStack() as stack:
        model = open_model(settings, stack)
        redis = await open_redis(with_servers(settings), stack)
        store = await open_store(settings, model.embedder, stack)
        consumers = workers.embed_consumers(settings, redis, model, store, stack)
        announce("embedding worker")
        watched = Watched(redis.client, settings.partitions, store, model.embedder, consumers)
        duties = Duties(workers=[*consumers], keepers=housekeeping(settings, redis, consumers), watched=watched)
        await run_until_stopped(settings, duties, None)


async def run_gate_worker(settings: Settings, announce: Announce) -> None:
    async with AsyncExitStack() as stack:
        model = open_model(settings, stack)
        redis = await open_redis(with_servers(settings), stack)
        store = await open_store(settings, model.embedder, stack)
        consumer = workers.gate_consumer(settings, redis, model, store, stack)
        announce("gating worker")
        watched = Watched(redis.client, settings.partitions, store, model.embedder, [consumer])
        duties = Duties(workers=[consumer], keepers=housekeeping(settings, redis, [consumer]), watched=watched)
        await run_until_stopped(settings, duties, None)


async def run_archive_worker(settings: Settings, announce: Announce) -> None:
    """Also forgets: what is to be forgotten has to leave the archive first."""
    async with AsyncExitStack() as stack:
        redis = await open_redis(with_servers(settings), stack)
        store = connect_store(settings)
        stack.push_async_callback(store.close)
        archive, consumer = await workers.archiver(settings, redis, stack)
        forgetting = jobs.forgetting_runner(settings, redis, store, archive.seal, stack)
        announce("archive worker")
        keepers = [archive.keep_sealed(), *housekeeping(settings, redis, [consumer])]
        watched = Watched(redis.client, settings.partitions, store, consumers=[consumer, forgetting])
        duties = Duties(workers=[consumer, forgetting], keepers=keepers, watched=watched)
        await run_until_stopped(settings, duties, None)


async def run_jobs(settings: Settings, queue_name: str, announce: Announce) -> None:
    """One queue per process; the schedule is kept by whichever of them holds the lock."""
    if queue_name == FORGETTING and settings.archive:
        raise Misconfigured("with an archive, the archive worker runs the queue forgetting: `lithify worker archive`")
    async with AsyncExitStack() as stack:
        model = open_model(settings, stack)
        redis = await open_redis(with_servers(settings), stack)
        store = await open_store(settings, model.embedder, stack)
        parts = jobs.JobParts(settings, redis, model, store, open_summariser(settings))
        runner = (
            jobs.forgetting_runner(settings, redis, store, None, stack)
            if queue_name == FORGETTING
            else jobs.job_runner(redis, queue_name, jobs.registry(parts), stack)
        )
        # Who compacts also watches for what is to be compacted; other queues have nothing to read.
        triggers = workers.compaction_triggers(settings, redis, stack) if queue_name == COMPACTION else []
        announce(f"job runner of queue {queue_name}")
        duties = Duties(
            workers=[runner, jobs.scheduler(settings, redis, stack), *triggers],
            keepers=housekeeping(settings, redis, triggers),
            watched=Watched(redis.client, settings.partitions, store, model.embedder, [runner, *triggers]),
        )
        await run_until_stopped(settings, duties, None)


async def node_routers(
    settings: Settings,
    redis: RedisParts,
    model: Model,
    store: VectorStore,
    watched: Watched,
    valve: BackPressure,
    door: ApiKeyAuthenticator,
    stack: AsyncExitStack,
    gauges: Gauges | None = None,
) -> tuple[list[APIRouter], list[Coroutine[Any, Any, None]]]:
    """Everything the node answers, and what must be kept going beside it."""
    assembly, keepers = await services.assembly(settings, redis, model, store, door, stack)
    common = common_routers(watched, door, gauges)
    pages = dashboard(settings, redis, door, stack)
    return [*services.gateway(settings, redis, valve, door), *assembly, *pages, *common], keepers


def common_routers(watched: Watched, door: ApiKeyAuthenticator, gauges: Gauges | None = None) -> list[APIRouter]:
    """What every service answers, whatever else it does."""
    access = Access(door)
    return [status_router(watched, access), metrics_router(gauges, access), reference_router(access)]


def system_gauges(settings: Settings, redis: RedisParts, stack: AsyncExitStack) -> Gauges:
    """For the node and the dashboard: one of them runs once in an installation, and tells what is the same for all."""
    connection = open_connection(redis.url)
    stack.callback(connection.close)
    return Gauges(redis.client, connection, settings.partitions, system_clock)


def with_redis(settings: Settings) -> Settings:
    """Parts of one system in several processes can only meet on servers."""
    if settings.redis_url is None:
        raise Misconfigured("a part on its own needs LITHIFY_REDIS_URL; `lithify up` brings a Redis along")
    return settings


def with_servers(settings: Settings) -> Settings:
    if settings.qdrant_url is None:
        raise Misconfigured("a part on its own needs LITHIFY_QDRANT_URL; `lithify up` brings the engine along")
    return with_redis(settings)


def housekeeping(
    settings: Settings, redis: RedisParts, consumers: Sequence[Consumer]
) -> list[Coroutine[Any, Any, None]]:
    """Whoever consumes also sweeps and tells that it lives; an embedded server is watched."""
    janitor = Janitor(redis.client, workers.stream_readers(settings))
    keepers: list[Coroutine[Any, Any, None]] = [
        janitor.run(),
        keep_beating(redis.client, consumers, system_clock),
    ]
    return keepers if redis.server is None else [*keepers, keep_serving(redis.server)]


async def run_until_stopped(settings: Settings, duties: Duties, listener: socket.socket | None) -> None:
    """Drains when told to stop: requests and messages in flight are finished, then this returns.

    Raises the first error of ours that ended a worker or keeper; nothing goes on without them.
    """
    arm(settings.crash_at)
    stop, drained = asyncio.Event(), asyncio.Event()
    stop_on_signals(stop)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(watch_duties(settings, duties, drained), name="operations")
            keepers = [tasks.create_task(keeper, name="keeper") for keeper in duties.keepers]
            work = [tasks.create_task(worker.run(), name=type(worker).__name__) for worker in duties.workers]
            if listener is not None:
                app = create_app("Lithify", duties.routers, settings.max_body_bytes)
                work.append(tasks.create_task(serve(app, listener, stop), name="web"))
            await stop.wait()
            log.info("draining")
            for worker in duties.workers:
                worker.stop()
            await asyncio.gather(*work)
            # Last: a draining worker still lives, and its queue is still needed.
            await end_tasks(keepers)
            drained.set()
    except ExceptionGroup as group:
        ours = group.subgroup(LithifyError)
        raise group if ours is None else ours.exceptions[0] from group


async def watch_duties(settings: Settings, duties: Duties, drained: asyncio.Event) -> None:
    """Answers probes and scrapes until the last of the work is done, where the settings open a port for them."""
    if not settings.metrics_port or duties.watched is None:
        return
    app = operations_app(settings, duties.watched, duties.gauges, system_clock)
    with listen(settings.host, settings.metrics_port, "LITHIFY_METRICS_PORT") as listener:
        await serve(app, listener, drained)


async def keep_serving(server: EmbeddedRedis) -> None:
    """Starts the embedded Redis again when it dies; what was accepted is in its append-only file."""
    while True:
        try:
            await server.watch()
        except ServerDied as error:
            log.error("redis_died", reason=str(error))
            await asyncio.sleep(RESTART_PAUSE_S)
            await server.start()
        else:
            return
