"""The jobs of this system: which there are, when they run, and what runs them."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import time
from typing import Final

from lithify.archiver.inspection import JOB as INSPECT_ARCHIVE
from lithify.archiver.inspection import inspect_archive
from lithify.compaction import JOB as COMPACT
from lithify.compaction import QUEUE as COMPACTION
from lithify.compactor.job import Compactor, compact_session
from lithify.compactor.retention import PURGE_JOB, RawRetention, purge_compacted
from lithify.compactor.triggers import IDLE_JOB, IdleSearch, compact_idle
from lithify.docs.jobs import EMBED as EMBED_DOCS
from lithify.docs.jobs import QUEUE as DOCS
from lithify.docs.jobs import REFRESH as REFRESH_DOCS
from lithify.embedder.backfill import JOB as BACKFILL
from lithify.embedder.backfill import BackfillParts, backfill
from lithify.events import system_clock
from lithify.forgetter.job import Forgetter, forget
from lithify.forgetter.segments import Seal
from lithify.forgetting import JOB as FORGET
from lithify.forgetting import QUEUE as FORGETTING
from lithify.jobs import (
    JobFunction,
    JobRunner,
    Registry,
    RunnerSettings,
    Schedule,
    Scheduler,
    bind_parts,
    daily,
    open_connection,
)
from lithify.librarian.lane import refresh_and_measure
from lithify.librarian.vectors import VectorParts, catch_up
from lithify.memory.compaction.draft import Abstractive
from lithify.memory.compaction.plan import CompactionPolicy
from lithify.node import docs
from lithify.node.parts import Model, RedisParts
from lithify.node.profiles import tail_policy
from lithify.settings import Settings
from lithify.store import VectorStore

MAINTENANCE: Final = "maintenance"
QUEUES: Final = (MAINTENANCE, COMPACTION, FORGETTING, DOCS)
# At night in Europe and America, and never at the full hour when everybody else's jobs start.
INSPECTION_TIME: Final = time(3, 23)
PURGE_TIME: Final = time(3, 53)
HOUR_MS: Final = 3_600_000
MINUTE_MS: Final = 60_000
# A sync asks for its vectors itself; this is for what could not be asked for, or failed.
DOCS_VECTORS_MS: Final = 10 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class JobParts:
    """Everything jobs work on; `summariser` only where one is configured."""

    settings: Settings
    redis: RedisParts
    model: Model
    store: VectorStore
    summariser: Abstractive | None


def job_runners(parts: JobParts, seal: Seal | None, stack: AsyncExitStack) -> list[JobRunner]:
    """Of all queues, for a process that does everything."""
    forgetting = {FORGET: bind_parts(forget, forgetter(parts.settings, parts.redis, parts.store, seal))}
    known = registry(parts) | forgetting
    return [job_runner(parts.redis, name, known, stack) for name in QUEUES]


def job_runner(redis: RedisParts, name: str, known: Registry, stack: AsyncExitStack) -> JobRunner:
    connection = open_connection(redis.url)
    stack.callback(connection.close)
    executor = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="job"))
    return JobRunner(
        connection=connection,
        queue=name,
        registry=known,
        executor=executor,
        settings=RunnerSettings(),
        clock=system_clock,
    )


def forgetting_runner(
    settings: Settings, redis: RedisParts, store: VectorStore, seal: Seal | None, stack: AsyncExitStack
) -> JobRunner:
    """Runs where the archive lies; `seal` closes the segment that is being written, None where none is."""
    known = {FORGET: bind_parts(forget, forgetter(settings, redis, store, seal))}
    return job_runner(redis, FORGETTING, known, stack)


def forgetter(settings: Settings, redis: RedisParts, store: VectorStore, seal: Seal | None) -> Forgetter:
    return Forgetter(store, redis.client, settings.partitions, settings.archive_folder, system_clock, seal)


def registry(parts: JobParts) -> dict[str, JobFunction[None]]:
    settings = parts.settings
    store = parts.store
    embedder = parts.model.embedder
    redis = parts.redis.client
    idle = IdleSearch(redis, settings.partitions, settings.compact_idle_minutes * MINUTE_MS, system_clock)
    return {
        INSPECT_ARCHIVE: bind_parts(inspect_archive, settings.archive_folder),
        BACKFILL: bind_parts(backfill, BackfillParts(store, embedder, redis, settings.partitions, system_clock)),
        COMPACT: bind_parts(compact_session, compactor(parts)),
        IDLE_JOB: bind_parts(compact_idle, idle),
        PURGE_JOB: bind_parts(purge_compacted, RawRetention(store, settings.retention_days, system_clock)),
        EMBED_DOCS: bind_parts(catch_up, VectorParts(store, embedder)),
        REFRESH_DOCS: bind_parts(refresh_and_measure, docs.lane(settings, parts.redis, parts.model, store)),
    }


def compactor(parts: JobParts) -> Compactor:
    settings, model = parts.settings, parts.model
    return Compactor(
        parts.store,
        model.embedder,
        model.analyser,
        parts.redis.client,
        settings.partitions,
        system_clock,
        tokens=settings.compact_tokens,
        policy=CompactionPolicy(settings.compact_cluster_turns, tail_policy(settings)),
        abstractive=parts.summariser,
    )


def scheduler(settings: Settings, redis: RedisParts, stack: AsyncExitStack) -> Scheduler:
    """Any number of processes may have one; a lock in Redis lets one at a time act."""
    connection = open_connection(redis.url)
    stack.callback(connection.close)
    return Scheduler(connection, schedules(settings), system_clock)


def schedules(settings: Settings) -> list[Schedule]:
    wanted = [
        (True, Schedule("backfill", MAINTENANCE, BACKFILL, HOUR_MS)),
        (settings.archive, daily("inspect-archive", MAINTENANCE, INSPECT_ARCHIVE, INSPECTION_TIME)),
        (settings.compact_idle_minutes > 0, Schedule("compact-idle", COMPACTION, IDLE_JOB, MINUTE_MS)),
        (settings.retention_days > 0, daily("purge-compacted", MAINTENANCE, PURGE_JOB, PURGE_TIME)),
        (True, Schedule("docs-vectors", DOCS, EMBED_DOCS, DOCS_VECTORS_MS)),
        (
            settings.docs_refresh_minutes > 0,
            Schedule("docs-lane", DOCS, REFRESH_DOCS, max(1, settings.docs_refresh_minutes) * MINUTE_MS),
        ),
    ]
    return [schedule for is_wanted, schedule in wanted if is_wanted]
