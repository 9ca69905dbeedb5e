"""The processes: everything in one (`lithify up`), or each part on its own (`lithify serve`, `lithify worker`)."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Final

import structlog
from fastapi import APIRouter

from lithify.access import ApiKeyAuthenticator
from lithify.compaction import QUEUE as COMPACTION
from lithify.errors import Misconfigured
from lithify.events import system_clock
from lithify.forgetting import QUEUE as FORGETTING
from lithify.gateway.back_pressure import BackPressure
from lithify.http.authorization import Access
from lithify.http.reference import reference_router
from lithify.jobs import JobRunner
from lithify.node import jobs, services
from lithify.node.parts import ProcessParts, open_parts, open_redis, open_summariser
from lithify.node.redis_server import EmbeddedRedis, ServerDied
from lithify.node.runtime import Workload, listen, run_until_stopped
from lithify.node.services import Background
from lithify.node.workers import KINDS, OpenedWorker, WorkerKind, stream_readers, wanted_kinds
from lithify.operations.probes import HealthChecks
from lithify.operations.router import Operations, operations_routers
from lithify.settings import Settings
from lithify.streams import Consumer, Janitor, LetterIndex, keep_beating
from lithify.streams.groups import COMPACT
from lithify.streams.janitor import KeptLetters

# A server that cannot live must not be started in a tight loop.
RESTART_PAUSE_S: Final = 1.0

log = structlog.get_logger(__name__)

Announce = Callable[[str], None]
"""Told in words what is running, once it is."""


async def run_node(settings: Settings, announce: Announce) -> None:
    """Runs everything on one port, until SIGTERM or SIGINT."""
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        parts = await open_parts(settings, stack)
        authenticator = await services.open_authenticator(settings, parts.redis)
        opened = await open_workers(parts, wanted_kinds(settings), stack)
        runners = jobs.open_runners(parts, open_summariser(settings), opened.seal, stack)
        back_pressure = services.open_back_pressure(settings, parts.redis)
        checks = HealthChecks(
            parts.redis.client, parts.store, parts.embedder, opened.consumers, keeps_model=parts.keeps_model
        )
        operations = services.open_operations(settings, parts.redis, checks, tells_levels=True, profile=parts.profile)
        routers, watching = await open_node_routers(parts, operations, back_pressure, authenticator)
        workload = Workload(
            checks=checks,
            routers=routers,
            authenticator=authenticator,
            workers=[*opened.consumers, *runners, jobs.open_scheduler(settings, parts.redis)],
            background=[back_pressure.run(), *opened.background, *watching, *housekeeping(parts, opened.consumers)],
            levels=operations.levels,
        )
        announce(parts.model.embedder.manifest.name)
        await run_until_stopped(settings, workload, listener)


async def open_node_routers(
    parts: ProcessParts, operations: Operations, back_pressure: BackPressure, authenticator: ApiKeyAuthenticator
) -> tuple[list[APIRouter], Background]:
    """Builds everything the node answers, and what must be kept going beside it."""
    gateway = services.open_gateway(parts.settings, parts.redis, back_pressure, authenticator)
    memory, background = await services.open_assembly(parts, authenticator)
    pages = services.open_dashboard(parts.redis, operations, authenticator)
    return [gateway, *memory, pages, *common_routers(operations, authenticator)], background


async def run_gateway(settings: Settings, announce: Announce) -> None:
    """Runs the gateway by itself; it needs no store and no model."""
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        redis = await open_redis(require_redis(settings), stack)
        authenticator = await services.open_authenticator(settings, redis)
        back_pressure = services.open_back_pressure(settings, redis)
        operations = services.open_operations(settings, redis, HealthChecks(redis.client), tells_levels=False)
        gateway = services.open_gateway(settings, redis, back_pressure, authenticator)
        announce("gateway")
        routers = [gateway, *common_routers(operations, authenticator)]
        workload = Workload(operations.checks, routers, authenticator, background=[back_pressure.run()])
        await run_until_stopped(settings, workload, listener)


async def run_assembly(settings: Settings, announce: Announce) -> None:
    """Runs what answers about memory by itself."""
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        parts = await open_parts(require_servers(settings), stack)
        authenticator = await services.open_authenticator(settings, parts.redis)
        checks = HealthChecks(parts.redis.client, parts.store, parts.embedder, keeps_model=parts.keeps_model)
        operations = services.open_operations(settings, parts.redis, checks, tells_levels=False, profile=parts.profile)
        routers, background = await services.open_assembly(parts, authenticator)
        announce("assembly")
        routers = [*routers, *common_routers(operations, authenticator)]
        workload = Workload(checks, routers, authenticator, background=background)
        await run_until_stopped(settings, workload, listener)


async def run_dashboard(settings: Settings, announce: Announce) -> None:
    """Runs the pages by themselves; they ask an assembly service about memory."""
    if settings.assembly_url is None:
        raise Misconfigured("a dashboard on its own needs LITHIFY_ASSEMBLY_URL, where it asks about memory")
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        redis = await open_redis(require_redis(settings), stack)
        authenticator = await services.open_authenticator(settings, redis)
        operations = services.open_operations(settings, redis, HealthChecks(redis.client), tells_levels=True)
        pages = services.open_dashboard(redis, operations, authenticator, settings.assembly_url)
        announce("dashboard")
        routers = [pages, *common_routers(operations, authenticator)]
        workload = Workload(operations.checks, routers, authenticator, levels=operations.levels)
        await run_until_stopped(settings, workload, listener)


SERVICES: Final = {"gateway": run_gateway, "assembly": run_assembly, "dashboard": run_dashboard}
"""What `lithify serve` can run."""


async def run_worker(name: str, settings: Settings, announce: Announce) -> None:
    """Runs one kind of worker by itself, as many processes as there is work for.

    Whoever archives also forgets: what is to be forgotten has to leave the archive first.
    """
    kind = KINDS[name]
    async with AsyncExitStack() as stack:
        parts = await open_parts(require_servers(settings), stack, needs_model=kind.needs_model)
        opened = await kind.open(parts, stack)
        runners = [] if opened.seal is None else [jobs.open_forgetting_runner(parts, opened.seal, stack)]
        loops: list[Consumer | JobRunner] = [*opened.consumers, *runners]
        announce(kind.title or name)
        workload = Workload(
            checks=HealthChecks(parts.redis.client, parts.store, parts.embedder, loops),
            workers=[*loops],
            background=[*opened.background, *housekeeping(parts, opened.consumers)],
        )
        await run_until_stopped(settings, workload)


async def run_jobs(settings: Settings, queue: str, announce: Announce) -> None:
    """Runs the jobs of one queue; the schedule is kept by whichever of these processes holds the lock."""
    if queue == FORGETTING and settings.archive:
        raise Misconfigured("with an archive, the archive worker runs the queue forgetting: `lithify worker archive`")
    async with AsyncExitStack() as stack:
        parts = await open_parts(require_servers(settings), stack)
        if queue == FORGETTING:
            runner = jobs.open_forgetting_runner(parts, None, stack)
        else:
            known = jobs.job_functions(parts, open_summariser(settings))
            runner = jobs.open_runner(parts.redis, queue, known, stack)
        # Who compacts also watches for what is to be compacted; other queues have nothing to read.
        beside = [kind for kind in wanted_kinds(settings) if queue == COMPACTION and kind.group == COMPACT]
        opened = await open_workers(parts, beside, stack)
        announce(f"job runner of queue {queue}")
        workload = Workload(
            checks=HealthChecks(parts.redis.client, parts.store, parts.embedder, [runner, *opened.consumers]),
            workers=[runner, jobs.open_scheduler(settings, parts.redis), *opened.consumers],
            background=housekeeping(parts, opened.consumers),
        )
        await run_until_stopped(settings, workload)


async def open_workers(parts: ProcessParts, kinds: Sequence[WorkerKind], stack: AsyncExitStack) -> OpenedWorker:
    """Opens several kinds as if they were one."""
    opened = [await kind.open(parts, stack) for kind in kinds]
    return OpenedWorker(
        consumers=[consumer for worker in opened for consumer in worker.consumers],
        background=[task for worker in opened for task in worker.background],
        seal=next((worker.seal for worker in opened if worker.seal is not None), None),
    )


def common_routers(operations: Operations, authenticator: ApiKeyAuthenticator) -> list[APIRouter]:
    """Returns what every service answers, whatever else it does."""
    return [*operations_routers(operations, authenticator), reference_router(Access(authenticator))]


def require_redis(settings: Settings) -> Settings:
    """Raises Misconfigured without a Redis server: parts of one system in several processes can only meet there."""
    if settings.redis_url is None:
        raise Misconfigured("a part on its own needs LITHIFY_REDIS_URL; `lithify up` brings a Redis along")
    return settings


def require_servers(settings: Settings) -> Settings:
    """Raises Misconfigured without a Redis and a Qdrant server."""
    if settings.qdrant_url is None:
        raise Misconfigured("a part on its own needs LITHIFY_QDRANT_URL; `lithify up` brings the engine along")
    return require_redis(settings)


def housekeeping(parts: ProcessParts, consumers: Sequence[Consumer]) -> Background:
    """Lets whoever consumes also sweep and tell that it lives; an embedded server is watched."""
    redis = parts.redis
    settings = parts.settings
    letters = KeptLetters(LetterIndex(redis.client, settings.partitions), settings.dead_letters_kept)
    janitor = Janitor(redis.client, stream_readers(settings), letters=letters)
    tasks: Background = [janitor.run(), keep_beating(redis.client, consumers, system_clock)]
    return tasks if redis.server is None else [*tasks, keep_serving(redis.server)]


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
