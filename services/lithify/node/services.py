"""Builds the services and workers of a process from its parts."""

import socket
from contextlib import AsyncExitStack

from fastapi import APIRouter

from lithify.archiver.worker import GROUP as ARCHIVE_GROUP
from lithify.archiver.worker import ArchiveWorker, archive_consumer, open_archive_worker, slot_name
from lithify.assembly.assemble import Assembler
from lithify.assembly.retrieval import Retriever
from lithify.assembly.routes import Assembly, assembly_router
from lithify.embedder.worker import GROUP as EMBED_GROUP
from lithify.embedder.worker import EmbeddingWorker
from lithify.events import EVERY_TENANT, system_clock
from lithify.gateway.dead_letters import dead_letter_router
from lithify.gateway.routes import Gateway, gateway_router
from lithify.gateway.valve import Valve
from lithify.memory.ranking.profile import RECALL, SEED
from lithify.node.parts import Model, Queue
from lithify.settings import Settings
from lithify.store import VectorStore
from lithify.streams import (
    Consumer,
    ConsumerSettings,
    DeadLetters,
    Limits,
    Producer,
    Receipts,
    Retention,
    keys,
    open_consumer,
)

PROFILES = {profile.name: profile.normalised() for profile in (RECALL, SEED)}
DAY_S = 86_400
HOUR_S = 3_600


def turn_streams(settings: Settings) -> list[str]:
    return [keys.turns(partition) for partition in range(settings.partitions)]


def turn_readers(settings: Settings) -> dict[str, frozenset[str]]:
    """The groups through which every accepted event must have gone before its stream entry may go."""
    groups = frozenset({EMBED_GROUP, ARCHIVE_GROUP} if settings.archive else {EMBED_GROUP})
    return dict.fromkeys(turn_streams(settings), groups)


def valve(settings: Settings, queue: Queue) -> Valve:
    limits = Limits(
        oldest_unread_s=settings.pressure_age_s,
        unread=settings.pressure_unread,
        memory_share=settings.pressure_memory,
    )
    return Valve(queue.redis, turn_readers(settings), limits)


def gateway(settings: Settings, queue: Queue, guard: Valve) -> list[APIRouter]:
    retention = Retention(
        receipt_s=settings.receipt_days * DAY_S, tail_s=settings.tail_days * DAY_S, tail_length=settings.tail_turns
    )
    producer = Producer(queue.redis, settings.partitions, system_clock, retention)
    intake = Gateway(producer, Receipts(queue.redis), system_clock, settings.wait_limit_ms, guard)
    letters = DeadLetters(queue.redis, settings.partitions, system_clock)
    # Without API keys whoever reaches the loopback is the operator.
    return [gateway_router(intake), dead_letter_router(EVERY_TENANT, letters, system_clock)]


def assembly(settings: Settings, queue: Queue, model: Model, store: VectorStore) -> APIRouter:
    retriever = Retriever(store, model.embedder, model.analyser, model.executor)
    profile = PROFILES[settings.retrieval_profile]
    assembler = Assembler(retriever, queue.redis, settings.partitions, settings.tail_turns, profile)
    return assembly_router(Assembly(assembler, queue.redis, system_clock, settings.trace_hours * HOUR_S))


def embed_consumers(
    settings: Settings, queue: Queue, model: Model, store: VectorStore, stack: AsyncExitStack
) -> list[Consumer]:
    worker = EmbeddingWorker(store, model.embedder, model.analyser, queue.redis, model.executor, system_clock)
    limits = consumer_limits(settings)
    # Stable across restarts, so that each slot finds its own pending messages again.
    name = settings.worker_name or socket.gethostname()
    consumers = []
    for slot in range(settings.embed_slots):
        redis = open_consumer(queue.url, limits.block_ms)
        stack.push_async_callback(redis.aclose)
        streams = turn_streams(settings)
        consumers.append(Consumer(redis, streams, EMBED_GROUP, f"{name}-{slot}", worker.handle, limits, system_clock))
    return consumers


async def archiver(settings: Settings, queue: Queue, stack: AsyncExitStack) -> tuple[ArchiveWorker, Consumer]:
    name, limits = slot_name(settings.worker_name), consumer_limits(settings)
    worker = await stack.enter_async_context(open_archive_worker(settings.archive_folder, name, system_clock))
    redis = open_consumer(queue.url, limits.block_ms)
    stack.push_async_callback(redis.aclose)
    return worker, archive_consumer(worker, redis, settings.partitions, name, limits, system_clock)


def consumer_limits(settings: Settings) -> ConsumerSettings:
    return ConsumerSettings(
        batch=settings.embed_batch_turns, lease_ms=settings.lease_ms, max_attempts=settings.max_attempts
    )
