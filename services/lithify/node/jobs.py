"""The jobs of this system: which there are, when they run, and what runs them."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import time
from typing import Final

from lithify.archiver.inspection import JOB as INSPECT_ARCHIVE
from lithify.archiver.inspection import inspect_archive
from lithify.assembly.prompt.token_counter import load_counter
from lithify.compaction import JOB as COMPACT
from lithify.compaction import QUEUE as COMPACTION
from lithify.compactor.job import Compactor, compact_session
from lithify.compactor.retention import PURGE_JOB, ArchivedTurns, RawRetention, purge_compacted
from lithify.compactor.triggers import IDLE_JOB, IdleSearch, compact_idle
from lithify.docs.jobs import EMBED as EMBED_DOCS
from lithify.docs.jobs import QUEUE as DOCS
from lithify.docs.jobs import REFRESH as REFRESH_DOCS
from lithify.embedder.backfill import JOB as BACKFILL
from lithify.embedder.backfill import BackfillParts, backfill
from lithify.events import system_clock
from lithify.forgetter.erasure import JOB as ERASE
from lithify.forgetter.erasure import erase_postponed
from lithify.forgetter.job import Forgetter, forget
from lithify.forgetter.segments import Seal
from lithify.forgetting import JOB as FORGET
from lithify.forgetting import QUEUE as FORGETTING
from lithify.jobs import (
    JobRunner,
    Registry,
    RunnerSettings,
    Schedule,
    Scheduler,
    Ticket,
    bind_parts,
    daily,
    enqueue,
    open_queue,
)
from lithify.librarian.lane import refresh_and_measure
from lithify.librarian.vectors import VectorParts, catch_up
from lithify.memory.compaction.draft import Abstractive
from lithify.memory.compaction.plan import CompactionPolicy, GuidanceDetector
from lithify.memory.ranking.profile import Profile
from lithify.node.docs import build_lane
from lithify.node.parts import ProcessParts, RedisParts, tail_policy
from lithify.settings import Settings

MAINTENANCE: Final = "maintenance"
QUEUES: Final = (MAINTENANCE, COMPACTION, FORGETTING, DOCS)
# At night in Europe and America, and never at the full hour when everybody else's jobs start.
INSPECTION_TIME: Final = time(3, 23)
PURGE_TIME: Final = time(3, 53)
ERASING_TIME: Final = time(4, 23)
HOUR_MS: Final = 3_600_000
MINUTE_MS: Final = 60_000
# A sync asks for its vectors itself; this is for what could not be asked for, or failed.
DOCS_VECTORS_MS: Final = 10 * MINUTE_MS


def open_runners(
    parts: ProcessParts, summariser: Abstractive | None, seal: Seal | None, stack: AsyncExitStack
) -> list[JobRunner]:
    """Opens the runners of all queues, for a process that does everything."""
    known = {**job_functions(parts, summariser), **forgetting_functions(parts, seal)}
    return [open_runner(parts.redis, name, known, stack) for name in QUEUES]


def open_runner(redis: RedisParts, name: str, known: Registry, stack: AsyncExitStack) -> JobRunner:
    executor = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="job"))
    return JobRunner(
        connection=redis.jobs,
        queue=name,
        registry=known,
        executor=executor,
        settings=RunnerSettings(),
        clock=system_clock,
    )


def open_forgetting_runner(parts: ProcessParts, seal: Seal | None, stack: AsyncExitStack) -> JobRunner:
    """Runs where the archive lies; `seal` closes the segment that is being written, None where none is."""
    return open_runner(parts.redis, FORGETTING, forgetting_functions(parts, seal), stack)


def forgetting_functions(parts: ProcessParts, seal: Seal | None) -> Registry:
    settings = parts.settings
    forgetter = Forgetter(
        store=parts.store,
        redis=parts.redis.client,
        partitions=settings.partitions,
        archive=settings.archive_folder,
        clock=system_clock,
        traces=parts.traces,
        seal=seal,
    )
    archived = ArchivedTurns(settings.archive_folder, parts.redis.client, seal)
    retention = RawRetention(parts.store, settings.retention_days, system_clock, archived)
    return {FORGET: bind_parts(forget, forgetter), PURGE_JOB: bind_parts(purge_compacted, retention)}


def job_functions(parts: ProcessParts, summariser: Abstractive | None) -> Registry:
    """Returns every job by its name that need not run where the archive lies, with what it works on."""
    settings = parts.settings
    store = parts.store
    embedder = parts.model.embedder
    redis = parts.redis.client
    idle = IdleSearch(redis, settings.partitions, settings.compact_idle_minutes * MINUTE_MS, system_clock)
    backfilling = BackfillParts(
        store=store, embedder=embedder, redis=redis, partitions=settings.partitions, clock=system_clock
    )
    return {
        INSPECT_ARCHIVE: bind_parts(inspect_archive, settings.archive_folder),
        BACKFILL: bind_parts(backfill, backfilling),
        COMPACT: bind_parts(compact_session, build_compactor(parts, summariser)),
        IDLE_JOB: bind_parts(compact_idle, idle),
        ERASE: bind_parts(erase_postponed, store),
        EMBED_DOCS: bind_parts(catch_up, VectorParts(store, embedder)),
        REFRESH_DOCS: bind_parts(refresh_and_measure, build_lane(parts)),
    }


def build_compactor(parts: ProcessParts, summariser: Abstractive | None) -> Compactor:
    settings = parts.settings
    model = parts.model
    return Compactor(
        store=parts.store,
        embedder=model.embedder,
        analyser=model.analyser,
        redis=parts.redis.client,
        partitions=settings.partitions,
        clock=system_clock,
        tokens=settings.compact_tokens,
        policy=CompactionPolicy(
            parts.profile.compaction.cluster_turns,
            tail_policy(parts.profile),
            choose_detector(settings, parts.profile),
        ),
        abstractive=summariser,
        limits=parts.profile.compaction,
        count=load_counter(settings.token_counter).count,
    )


def choose_detector(settings: Settings, profile: Profile) -> GuidanceDetector:
    """Returns what counts as guidance; the setting can only switch it off."""
    return "off" if settings.guidance == "off" else profile.compaction.guidance


def open_scheduler(settings: Settings, redis: RedisParts) -> Scheduler:
    """Any number of processes may have one; a lock in Redis lets one at a time act."""
    return Scheduler(redis.jobs, schedules(settings), system_clock)


async def queue_backfill(redis: RedisParts) -> Ticket:
    """Asks for a backfill now; one that is queued or running already is not doubled."""
    return await enqueue(open_queue(redis.jobs, MAINTENANCE), BACKFILL, {}, unique_id=BACKFILL)


def schedules(settings: Settings) -> list[Schedule]:
    wanted = [
        (True, Schedule("backfill", MAINTENANCE, BACKFILL, HOUR_MS)),
        (settings.archive, daily("inspect-archive", MAINTENANCE, INSPECT_ARCHIVE, INSPECTION_TIME)),
        (settings.compact_idle_minutes > 0, Schedule("compact-idle", COMPACTION, IDLE_JOB, MINUTE_MS)),
        # Where the archive lies: a rebuild would bring back what is purged from the store alone.
        (settings.retention_days > 0, daily("purge-compacted", FORGETTING, PURGE_JOB, PURGE_TIME)),
        (settings.qdrant_url is None, daily("erase-deleted", MAINTENANCE, ERASE, ERASING_TIME)),
        (True, Schedule("docs-vectors", DOCS, EMBED_DOCS, DOCS_VECTORS_MS)),
        (
            settings.docs_refresh_minutes > 0,
            Schedule("docs-lane", DOCS, REFRESH_DOCS, max(1, settings.docs_refresh_minutes) * MINUTE_MS),
        ),
    ]
    return [schedule for is_wanted, schedule in wanted if is_wanted]
