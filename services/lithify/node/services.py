"""Builds the services of a process from its parts."""

from collections.abc import Coroutine
from contextlib import AsyncExitStack
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
from lithify.embedding.tier_calibration import calibrated_cascade
from lithify.events import TenantScope, system_clock
from lithify.events.scope import DEFAULT_TENANT
from lithify.gateway.back_pressure import BackPressure
from lithify.gateway.routes import Gateway, gateway_router
from lithify.http.authorization import Access
from lithify.jobs import open_connection
from lithify.node import docs
from lithify.node.parts import Model, RedisParts
from lithify.node.profiles import retrieval_profile
from lithify.node.workers import stream_readers
from lithify.operations.key_routes import key_router
from lithify.operations.letter_routes import dead_letter_router
from lithify.operations.maintenance import maintenance_router
from lithify.settings import Settings
from lithify.store import VectorStore
from lithify.streams import DeadLetters, Limits, Producer, Receipts, Retention

DAY_S = 86_400
HOUR_S = 3_600


def valve(settings: Settings, redis: RedisParts) -> BackPressure:
    limits = Limits(
        oldest_unread_s=settings.pressure_age_s,
        unread=settings.pressure_unread,
        memory_share=settings.pressure_memory,
    )
    return BackPressure(redis.client, stream_readers(settings), limits)


async def door(settings: Settings, redis: RedisParts) -> ApiKeyAuthenticator:
    """Raises Misconfigured if other machines could reach a service that asks nobody for a key."""
    rate = RateLimit(redis.client, settings.rate_limit)
    guarded = make_authenticator(ApiKeyStore(redis.client, system_clock), rate, loopback=is_loopback(settings.host))
    require_safe_bind(settings.host, keys_exist=await guarded.keys_exist())
    return guarded


def gateway(settings: Settings, redis: RedisParts, guard: BackPressure, door: ApiKeyAuthenticator) -> list[APIRouter]:
    retention = Retention(
        receipt_s=settings.receipt_days * DAY_S, tail_s=settings.tail_days * DAY_S, tail_length=settings.tail_turns
    )
    producer = Producer(redis.client, settings.partitions, system_clock, retention)
    intake = Gateway(producer, Receipts(redis.client), system_clock, settings.wait_limit_ms, guard)
    letters = DeadLetters(redis.client, settings.partitions, system_clock)
    access = Access(door)
    return [
        gateway_router(intake, access),
        dead_letter_router(access, letters, system_clock),
        key_router(ApiKeyStore(redis.client, system_clock), door),
    ]


async def assembly(
    settings: Settings,
    redis: RedisParts,
    model: Model,
    store: VectorStore,
    door: ApiKeyAuthenticator,
    stack: AsyncExitStack,
) -> tuple[list[APIRouter], list[Coroutine[Any, Any, None]]]:
    """Its routes, and what must be kept going beside them. Raises Misconfigured if the hard rules do not fit."""
    access, jobs = Access(door), open_connection(redis.url)
    stack.callback(jobs.close)
    documents, keepers = await rules(settings, redis, model, store)
    memories = Memories(store, model.embedder, model.analyser, model.executor, redis.client, system_clock)
    importer = Importer(store, model.embedder, model.analyser, model.executor, redis.client, settings.partitions)
    routers = [
        assembly_router(recall(settings, redis, model, store), access),
        memory_router(memories, access),
        session_router(Timelines(store, redis.client, settings.partitions), access),
        authored_router(documents, access),
        docs_router(docs.desk(settings, redis, model, store, jobs), access),
        compaction_router(CompactionParts(store, jobs), access),
        forgetting_router(
            ForgettingService(store, redis.client, jobs, settings.partitions, settings.wait_limit_ms), access
        ),
        export_router(Exporter(store), importer, access),
        maintenance_router(jobs, access),
    ]
    return routers, keepers


def recall(settings: Settings, redis: RedisParts, model: Model, store: VectorStore) -> AssemblyService:
    reader = AuthoredReader(store, redis.client, frozenset(settings.authored_core), model.embedder.manifest.family)
    cascade = calibrated_cascade(model.embedder, settings.models_dir) if settings.search_tiers == "cascade" else None
    builder = ContextBuilder(
        Retriever(store, QueryVectorCache(model.embedder), model.analyser, model.executor, cascade),
        redis.client,
        settings.partitions,
        settings.tail_turns,
        retrieval_profile(settings),
        rules=reader,
        documents=docs.search(model, store),
        counter=load_counter(settings.token_counter),
        check_invariants=settings.check_invariants,
    )
    traces = TraceBook(redis.client, settings.trace_hours * HOUR_S)
    return AssemblyService(builder, traces, system_clock, settings.assemble_deadline_ms)


async def rules(
    settings: Settings, redis: RedisParts, model: Model, store: VectorStore
) -> tuple[AuthoredDocuments, list[Coroutine[Any, Any, None]]]:
    """The authored documents, checked against their reserve; their folder is loaded, and then watched."""
    core = frozenset(settings.authored_core)
    # A share alone says nothing before a budget is known; without one there is nothing to check at start.
    share = retrieval_profile(settings).hard_fraction if settings.startup_budget else None
    reserve = Reserve(share, settings.startup_budget)
    documents = AuthoredDocuments(
        store, model.embedder, model.analyser, redis.client, model.executor, system_clock, core, reserve
    )
    keepers = []
    if settings.authored_dir is not None:
        watch = FolderWatch(settings.authored_dir, documents, TenantScope(DEFAULT_TENANT))
        await watch.sync()
        keepers.append(watch.run())
    await documents.settle()
    await check_startup(store, core, reserve)
    return documents, keepers
