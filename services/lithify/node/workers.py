"""Builds the workers of a process from its parts."""

import socket
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, replace
from typing import Final

from lithify.archiver.worker import ArchiveWorker, archive_consumer, open_archive_worker, slot_name
from lithify.compactor.triggers import CompactionTrigger
from lithify.embedder.worker import EmbeddingWorker
from lithify.events import system_clock
from lithify.gatekeeper.turn_gate import TurnGate, gate_config
from lithify.gatekeeper.worker import GateWorker
from lithify.gatekeeper.worth_file import find_worth
from lithify.jobs import open_connection
from lithify.node.parts import Model, RedisParts
from lithify.settings import Settings
from lithify.store import VectorStore
from lithify.streams import Consumer, ConsumerSettings, Handler, keys, open_consumer
from lithify.streams.groups import ARCHIVE, COMPACT, EMBED, GATE

# Searching is quick and shares the engine with whoever waits for an answer: small batches let those in between.
GATE_BATCH: Final = 64
# Only counts; the more at once, the fewer round trips.
TRIGGER_BATCH: Final = 512


def turn_streams(settings: Settings) -> list[str]:
    return [keys.turns(partition) for partition in range(settings.partitions)]


def stored_streams(settings: Settings) -> list[str]:
    return [keys.stored(partition) for partition in range(settings.partitions)]


def stream_readers(settings: Settings) -> dict[str, frozenset[str]]:
    """The groups through which every event must have gone before its stream entry may go."""
    turns = frozenset({EMBED, ARCHIVE} if settings.archive else {EMBED})
    stored = frozenset({GATE, COMPACT} if compacts_by_itself(settings) else {GATE})
    return dict.fromkeys(turn_streams(settings), turns) | dict.fromkeys(stored_streams(settings), stored)


def embed_consumers(
    settings: Settings, redis: RedisParts, model: Model, store: VectorStore, stack: AsyncExitStack
) -> list[Consumer]:
    limits, streams = consumer_limits(settings), turn_streams(settings)

    def embed_slot(slot: int) -> Consumer:
        # One worker a slot: each tells its own counts.
        worker = EmbeddingWorker(store, model.embedder, model.analyser, redis.client, model.executor, system_clock)
        told = worker.lateness.outcomes
        return consumer(settings, redis, streams, EMBED, slot, worker.handle, limits, stack, told)

    return [embed_slot(slot) for slot in range(settings.embed_slots)]


def gate_consumer(
    settings: Settings, redis: RedisParts, model: Model, store: VectorStore, stack: AsyncExitStack
) -> Consumer:
    worker = GateWorker(store, redis.client, model.embedder.manifest.family, gate_judge(settings, model), system_clock)
    limits = replace(consumer_limits(settings), batch=GATE_BATCH)
    return consumer(
        settings,
        redis,
        stored_streams(settings),
        GATE,
        0,
        worker.handle,
        limits,
        stack,
        lambda: asdict(worker.tally),
    )


def gate_judge(settings: Settings, model: Model) -> TurnGate:
    """Learned evidence belongs to one model; where nothing was learned for it, the patterns decide."""
    folder, family = settings.models_dir / settings.embedding_profile, model.embedder.manifest.family
    worth = find_worth(folder, family) if settings.gate_evidence == "learned" else None
    config = gate_config(settings.gate_evidence, worth, settings.gate_threshold)
    admission = replace(config, durable_admission=settings.durable_admission)
    return TurnGate(admission, settings.gate_merge, model.analyser, worth)


def compacts_by_itself(settings: Settings) -> bool:
    return settings.compact_tokens > 0 or settings.compact_idle_minutes > 0


def compaction_triggers(settings: Settings, redis: RedisParts, stack: AsyncExitStack) -> list[Consumer]:
    """One, or none where sessions are compacted on request only."""
    if not compacts_by_itself(settings):
        return []
    jobs = open_connection(redis.url)
    stack.callback(jobs.close)
    idle = settings.compact_idle_minutes > 0
    trigger = CompactionTrigger(redis.client, jobs, settings.partitions, settings.compact_tokens, idle, system_clock)
    limits = replace(consumer_limits(settings), batch=TRIGGER_BATCH)
    return [consumer(settings, redis, stored_streams(settings), COMPACT, 0, trigger.handle, limits, stack)]


def consumer(
    settings: Settings,
    redis: RedisParts,
    streams: list[str],
    group: str,
    slot: int,
    handler: Handler,
    limits: ConsumerSettings,
    stack: AsyncExitStack,
    outcomes: Callable[[], Mapping[str, int]] = dict,
) -> Consumer:
    client = open_consumer(redis.url, limits.block_ms)
    stack.push_async_callback(client.aclose)
    # Stable across restarts, so that each slot finds its own pending messages again.
    name = f"{settings.worker_name or socket.gethostname()}-{slot}"
    return Consumer(client, streams, group, name, handler, limits, system_clock, outcomes)


async def archiver(settings: Settings, redis: RedisParts, stack: AsyncExitStack) -> tuple[ArchiveWorker, Consumer]:
    name, limits = slot_name(settings.worker_name), consumer_limits(settings)
    worker = await stack.enter_async_context(open_archive_worker(settings.archive_folder, name, system_clock))
    client = open_consumer(redis.url, limits.block_ms)
    stack.push_async_callback(client.aclose)
    return worker, archive_consumer(worker, client, settings.partitions, name, limits, system_clock)


def consumer_limits(settings: Settings) -> ConsumerSettings:
    return ConsumerSettings(
        batch=settings.embed_batch_turns, lease_ms=settings.lease_ms, max_attempts=settings.max_attempts
    )
