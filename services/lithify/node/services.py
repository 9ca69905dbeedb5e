"""Builds the services and workers of a process from its parts."""

import socket

from fastapi import APIRouter

from lithify.assembly.assemble import Assembler
from lithify.assembly.retrieval import Retriever
from lithify.assembly.routes import Assembly, assembly_router
from lithify.embedder.worker import GROUP, EmbeddingWorker
from lithify.events import system_clock
from lithify.gateway.routes import Gateway, gateway_router
from lithify.memory.ranking.profile import RECALL, SEED
from lithify.node.parts import Parts
from lithify.streams import Consumer, ConsumerSettings, Producer, Receipts, Retention, keys, open_consumer

PROFILES = {profile.name: profile.normalised() for profile in (RECALL, SEED)}
DAY_S = 86_400
HOUR_S = 3_600


def gateway(parts: Parts) -> APIRouter:
    settings = parts.settings
    retention = Retention(
        receipt_s=settings.receipt_days * DAY_S, tail_s=settings.tail_days * DAY_S, tail_length=settings.tail_turns
    )
    producer = Producer(parts.redis, settings.partitions, system_clock, retention)
    return gateway_router(Gateway(producer, Receipts(parts.redis), system_clock, settings.wait_limit_ms))


def assembly(parts: Parts) -> APIRouter:
    settings = parts.settings
    retriever = Retriever(parts.store, parts.embedder, parts.analyser, parts.executor)
    profile = PROFILES[settings.retrieval_profile]
    assembler = Assembler(retriever, parts.redis, settings.partitions, settings.tail_turns, profile)
    return assembly_router(Assembly(assembler, parts.redis, system_clock, settings.trace_hours * HOUR_S))


def embed_consumers(parts: Parts) -> list[Consumer]:
    """Consumer names are stable across restarts of a host, so that each slot finds its own pending messages."""
    settings = parts.settings
    worker = EmbeddingWorker(parts.store, parts.embedder, parts.analyser, parts.redis, parts.executor, system_clock)
    limits = ConsumerSettings(
        batch=settings.embed_batch_turns, lease_ms=settings.lease_ms, max_attempts=settings.max_attempts
    )
    streams = [keys.turns(partition) for partition in range(settings.partitions)]
    return [
        Consumer(
            open_consumer(parts.redis_url, limits.block_ms),
            streams,
            GROUP,
            f"{socket.gethostname()}-{slot}",
            worker.handle,
            limits,
            system_clock,
        )
        for slot in range(settings.embed_slots)
    ]
