"""Builds the services of a process from its parts."""

from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from fastapi import APIRouter

from lithify.access import (
    ApiKeyAuthenticator,
    ApiKeyStore,
    RateLimit,
    is_loopback,
    make_authenticator,
    require_safe_bind,
)
from lithify.assembly.docs.routes import docs_router
from lithify.assembly.library.authored_routes import authored_router
from lithify.assembly.library.compaction_routes import CompactionParts, compaction_router
from lithify.assembly.library.export import Exporter
from lithify.assembly.library.export_routes import export_router
from lithify.assembly.library.forgetting_routes import ForgettingService, forgetting_router
from lithify.assembly.library.importing import Importer
from lithify.assembly.library.memories import Memories
from lithify.assembly.library.memory_routes import memory_router, session_router
from lithify.assembly.library.timeline import Timelines
from lithify.assembly.prompt.builder import ContextBuilder
from lithify.assembly.prompt.token_counter import load_counter
from lithify.assembly.recall.caches import QueryVectorCache
from lithify.assembly.recall.retrieval import Retriever
from lithify.assembly.routes import assembly_router
from lithify.assembly.service import AssemblyService
from lithify.assembly.traces import TraceBook
from lithify.authored import AuthoredDocuments, AuthoredReader, FolderWatch, Reserve, check_startup
from lithify.dashboard.browser_sessions import BrowserSessions
from lithify.dashboard.memory_pages import MemoryApi
from lithify.dashboard.router import Dashboard, dashboard_router
from lithify.embedding.relevance_file import find_calibration
from lithify.embedding.tier_calibration import calibrated_cascade
from lithify.events import TenantScope, system_clock
from lithify.events.scope import DEFAULT_TENANT
from lithify.gateway.back_pressure import BackPressure
from lithify.gateway.routes import Gateway, gateway_router
from lithify.http.authorization import Access
from lithify.memory.ranking.profile import Profile
from lithify.memory.vectors.cascade import Cascade
from lithify.monitoring.figures import PipelineReader
from lithify.monitoring.jobs import BackgroundJobs
from lithify.monitoring.pulse import Pulse
from lithify.node.docs import build_docs_service, build_search
from lithify.node.jobs import queue_backfill
from lithify.node.parts import ProcessParts, RedisParts
from lithify.node.workers import stream_readers
from lithify.operations.metrics import SystemLevels
from lithify.operations.probes import HealthChecks
from lithify.operations.router import Operations
from lithify.settings import Settings
from lithify.store.readable import leave_out_unreadable
from lithify.streams import DeadLetters, Limits, Producer, Receipts, Retention

DAY_S = 86_400

Background = list[Coroutine[Any, Any, None]]
"""What must be kept going beside the routes of a service."""


def open_back_pressure(settings: Settings, redis: RedisParts) -> BackPressure:
    limits = Limits(
        oldest_unread_s=settings.pressure_age_s,
        unread=settings.pressure_unread,
        memory_share=settings.pressure_memory,
    )
    return BackPressure(redis.client, stream_readers(settings), limits)


async def open_authenticator(settings: Settings, redis: RedisParts) -> ApiKeyAuthenticator:
    """Raises Misconfigured if other machines could reach a service that asks nobody for a key."""
    rate = RateLimit(redis.client, settings.rate_limit)
    authenticator = make_authenticator(
        ApiKeyStore(redis.client, system_clock), rate, loopback=is_loopback(settings.host)
    )
    require_safe_bind(settings.host, keys_exist=await authenticator.keys_exist())
    return authenticator


def open_operations(
    settings: Settings,
    redis: RedisParts,
    checks: HealthChecks,
    *,
    tells_levels: bool,
    profile: Profile | None = None,
) -> Operations:
    """Builds what the operators' routes and pages read and do, with one reader and one connection for all of them.

    `tells_levels` is for the node and the dashboard: one of them runs once in an installation, and tells what is the
    same for all. `profile` is that of a process that answers about memory.
    """
    reader = PipelineReader(redis.client, redis.jobs, settings.partitions, system_clock)
    pulse = Pulse(reader)
    return Operations(
        checks=checks,
        reader=reader,
        pulse=pulse,
        jobs=BackgroundJobs(pulse, redis.jobs),
        letters=DeadLetters(redis.client, settings.partitions, system_clock),
        keys=ApiKeyStore(redis.client, system_clock),
        queue_backfill=partial(queue_backfill, redis),
        clock=system_clock,
        levels=SystemLevels(reader) if tells_levels else None,
        profile=profile,
    )


def open_gateway(
    settings: Settings, redis: RedisParts, back_pressure: BackPressure, authenticator: ApiKeyAuthenticator
) -> APIRouter:
    retention = Retention(
        receipt_s=settings.receipt_days * DAY_S, tail_s=settings.tail_days * DAY_S, tail_length=settings.tail_turns
    )
    gateway = Gateway(
        producer=Producer(
            redis.client,
            settings.partitions,
            system_clock,
            retention,
            settings.lane_turns,
            back_pressure.is_bulk_open,
        ),
        receipts=Receipts(redis.client),
        clock=system_clock,
        wait_limit_ms=settings.wait_limit_ms,
        back_pressure=back_pressure,
    )
    return gateway_router(gateway, Access(authenticator))


def open_dashboard(
    redis: RedisParts, operations: Operations, authenticator: ApiKeyAuthenticator, assembly_url: str | None = None
) -> APIRouter:
    """Builds the pages; without `assembly_url` they are part of an application that answers about memory itself."""
    dashboard = Dashboard(
        authenticator=authenticator,
        sessions=BrowserSessions(redis.client),
        pulse=operations.pulse,
        jobs=operations.jobs,
        letters=operations.letters,
        memory=MemoryApi(assembly_url),
        clock=system_clock,
    )
    return dashboard_router(dashboard)


async def open_assembly(parts: ProcessParts, authenticator: ApiKeyAuthenticator) -> tuple[list[APIRouter], Background]:
    """Builds the routes about memory. Raises Misconfigured if the hard rules do not fit."""
    settings = parts.settings
    store = leave_out_unreadable(parts.store)
    redis = parts.redis
    model = parts.model
    access = Access(authenticator)
    documents, background = await open_authored(parts)
    traces = TraceBook(parts.traces)
    background.append(traces.run())
    memories = Memories(
        store=store,
        embedder=model.embedder,
        analyser=model.analyser,
        executor=model.executor,
        redis=redis.client,
        clock=system_clock,
    )
    routers = [
        assembly_router(build_assembly(parts, traces), access),
        memory_router(memories, access),
        session_router(Timelines(store, redis.client, settings.partitions), access),
        authored_router(documents, access),
        docs_router(build_docs_service(parts, traces), access),
        compaction_router(CompactionParts(store, redis.jobs), access),
        forgetting_router(build_forgetting_service(parts), access),
        export_router(Exporter(store), build_importer(parts), access),
    ]
    return routers, background


def build_forgetting_service(parts: ProcessParts) -> ForgettingService:
    return ForgettingService(
        store=parts.store,
        redis=parts.redis.client,
        jobs=parts.redis.jobs,
        partitions=parts.settings.partitions,
        wait_limit_ms=parts.settings.wait_limit_ms,
    )


def build_importer(parts: ProcessParts) -> Importer:
    model = parts.model
    return Importer(
        store=parts.store,
        embedder=model.embedder,
        analyser=model.analyser,
        executor=model.executor,
        redis=parts.redis.client,
        partitions=parts.settings.partitions,
    )


def build_assembly(parts: ProcessParts, traces: TraceBook) -> AssemblyService:
    settings = parts.settings
    store = leave_out_unreadable(parts.store)
    redis = parts.redis.client
    model = parts.model
    reader = AuthoredReader(store, redis, frozenset(settings.authored_core), model.embedder.manifest.family)
    builder = ContextBuilder(
        retriever=Retriever(
            store=store,
            embedder=QueryVectorCache(model.embedder),
            analyser=model.analyser,
            executor=model.executor,
            cascade=choose_cascade(parts),
            calibration=find_calibration(model.embedder, settings.models_dir),
        ),
        redis=redis,
        partitions=settings.partitions,
        tail_turns=settings.tail_turns,
        profile=parts.profile,
        rules=reader,
        documents=build_search(parts),
        counter=load_counter(settings.token_counter),
        check_invariants=settings.check_invariants,
        guidance=settings.guidance == "on",
    )
    return AssemblyService(builder, traces, system_clock, settings.assemble_deadline_ms)


def choose_cascade(parts: ProcessParts) -> Cascade | None:
    """Returns the tiers to search one after another, where the profile asks for it and they are calibrated."""
    if parts.profile.search_tiers != "cascade":
        return None
    cascade = calibrated_cascade(parts.model.embedder, parts.settings.models_dir)
    return replace(cascade, deadline_ms=parts.profile.cascade_deadline_ms) if cascade.lower else None


async def open_authored(parts: ProcessParts) -> tuple[AuthoredDocuments, Background]:
    """Opens the authored documents, checked against their reserve; their folder is loaded, and then watched."""
    settings = parts.settings
    model = parts.model
    core = frozenset(settings.authored_core)
    reserve = Reserve(settings.startup_budget, parts.profile, load_counter(settings.token_counter).count)
    documents = AuthoredDocuments(
        store=parts.store,
        embedder=model.embedder,
        analyser=model.analyser,
        redis=parts.redis.client,
        executor=model.executor,
        clock=system_clock,
        core=core,
        reserve=reserve,
    )
    background = []
    if settings.authored_dir is not None:
        watch = FolderWatch(settings.authored_dir, documents, TenantScope(DEFAULT_TENANT))
        await watch.sync()
        background.append(watch.run())
    await documents.settle()
    await check_startup(parts.store, core, reserve)
    return documents, background
