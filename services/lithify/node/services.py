"""Builds the services and workers of a process from its parts."""

import socket
from contextlib import AsyncExitStack

from fastapi import APIRouter

from lithify.assembly.assemble import Assembler
from lithify.assembly.retrieval import Retriever
from lithify.assembly.routes import Assembly, assembly_router
from lithify.embedder.worker import GROUP, EmbeddingWorker
from lithify.events import system_clock
from lithify.gateway.routes import Gateway, gateway_router
from lithify.memory.ranking.profile import RECALL, SEED
from lithify.node.parts import Model, Queue
from lithify.settings import Settings
from lithify.store import VectorStore
from lithify.streams import Consumer, ConsumerSettings, Producer, Receipts, Retention, keys, open_consumer

PROFILES = {profile.name: profile.normalised() for profile in (RECALL, SEED)}
DAY_S = 86_400
HOUR_S = 3_600


def gateway(settings: Settings, queue: Queue) -> APIRouter:
    retention = Retention(
        receipt_s=settings.receipt_days * DAY_S, tail_s=settings.tail_days * DAY_S, tail_length=settings.tail_turns
    )
    producer = Producer(queue.redis, settings.partitions, system_clock, retention)
    return gateway_router(Gateway(producer, Receipts(queue.redis), system_clock, settings.wait_limit_ms))


def assembly(settings: Settings, queue: Queue, model: Model, store: VectorStore) -> APIRouter:
    retriever = Retriever(store, model.embedder, model.analyser, model.executor)
    profile = PROFILES[settings.retrieval_profile]
    assembler = Assembler(retriever, queue.redis, settings.partitions, settings.tail_turns, profile)
    return assembly_router(Assembly(assembler, queue.redis, system_clock, settings.trace_hours * HOUR_S))


def embed_consumers(
    settings: Settings, queue: Queue, model: Model, store: VectorStore, stack: AsyncExitStack
) -> list[Consumer]:
    worker = EmbeddingWorker(store, model.embedder, model.analyser, queue.redis, model.executor, system_clock)
    limits = ConsumerSettings(
        batch=settings.embed_batch_turns, lease_ms=settings.lease_ms, max_attempts=settings.max_attempts
    )
    streams = [keys.turns(partition) for partition in range(settings.partitions)]
    # Stable across restarts, so that each slot finds its own pending messages again.
    name = settings.worker_name or socket.gethostname()
    consumers = []
    for slot in range(settings.embed_slots):
        redis = open_consumer(queue.url, limits.block_ms)
        stack.push_async_callback(redis.aclose)
        consumers.append(Consumer(redis, streams, GROUP, f"{name}-{slot}", worker.handle, limits, system_clock))
    return consumers
