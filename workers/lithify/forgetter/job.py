"""The job that forgets: clears every place, looks again, and returns the receipt."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from pydantic import JsonValue
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.compaction import JOB, QUEUE
from lithify.errors import Invalid, Unavailable
from lithify.events import Clock
from lithify.forgetter.erasure import Remainder, erase_log, erase_records
from lithify.forgetter.place import ForgettingRun, Place
from lithify.forgetter.records import Records, memory_collections
from lithify.forgetter.segments import Seal, Segments
from lithify.forgetter.sessions import Sessions
from lithify.forgetter.streams import Backlog, Letters
from lithify.forgetter.traces import Traces
from lithify.forgetting import Target, TargetKind, put_tombstones, read_present_moment
from lithify.forgetting.request import LONGEST_MS
from lithify.jobs import JobContext
from lithify.jobs.connection import in_thread
from lithify.jobs.enqueue import find
from lithify.jobs.record import NamedJob, open_queue
from lithify.store import VectorStore
from lithify.streams import DeadLetters, crash_point
from lithify.traces import TraceShelf

POLL_S: Final = 0.2
# Summaries of a long session take an abstractive model minutes.
PATIENCE_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class RunningCompactions:
    """Compactions that had read a session before its turns were deleted: they could still write a summary.

    One that starts later finds nothing to summarise.
    """

    jobs: BlockingRedis
    patience_s: float = PATIENCE_S

    async def wait_until_done(self, run: ForgettingRun) -> None:
        given_up = time.monotonic() + self.patience_s
        while await in_thread(self._running, run.target):
            if time.monotonic() > given_up:
                raise Unavailable("a compaction of what is to be forgotten is still running")
            await asyncio.sleep(POLL_S)

    def _running(self, target: Target) -> bool:
        started = open_queue(self.jobs, QUEUE).started_job_registry.get_job_ids(cleanup=False)
        jobs = [job for job_id in started if (job := find(self.jobs, job_id))]
        return any(is_compaction_of(job, target) for job in jobs)


# A worker that was slow to finish may leave something behind the first time, never the second.
ROUNDS = 3

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Forgetter:
    """Holds what the job works with. It runs where the archive lies; `seal` is that of the archive worker beside it."""

    store: VectorStore
    redis: Redis
    partitions: int
    archive: Path
    clock: Clock
    traces: TraceShelf
    seal: Seal | None = None

    def places(self) -> Sequence[Place]:
        """Returns the places in the order in which they are cleared.

        What a worker or a rebuild could bring back goes before what they would bring it to.
        """
        return (
            Sessions(self.redis, self.partitions),
            Letters(DeadLetters(self.redis, self.partitions, self.clock)),
            Backlog(self.redis, self.partitions),
            Segments(self.archive, self.seal),
            Records(self.store, self.redis, self.archive),
            Traces(self.traces),
        )


async def forget(
    context: JobContext[Forgetter],
    *,
    tenant: str,
    kind: str,
    user: str | None,
    name: str,
    events: list[JsonValue],
    before: int,
) -> JsonValue:
    """Removes everything of the target that was accepted up to `before`, and checks that it is gone.

    May be repeated as a whole, and is after a crash. Raises Unavailable while something prevents it, Invalid for a
    request that is too old to tell what came after it.
    """
    arguments = {"tenant": tenant, "kind": kind, "user": user, "name": name, "events": events}
    parts = context.parts
    run = ForgettingRun(Target.from_arguments(arguments), before, parts.redis)
    await refuse_stale(parts, before)
    await put_tombstones(parts.redis, run.target, before)
    crash_point("forget_marked")
    removed = Counter(read_checkpoint(await context.resume()))
    places = parts.places()
    for _ in range(ROUNDS):
        await clear(context, places, run, removed)
        await RunningCompactions(context.connection).wait_until_done(run)
        await in_thread(drop_job_records, context.connection, run.target)
        left = await count_left(places, run)
        if not left:
            remaining = await erase(parts)
            log.info("forgotten", kind=kind, removed=removed.total(), remaining=len(remaining))
            return make_receipt(run, removed, remaining, parts.clock())
    raise Unavailable(f"something still brings back what was forgotten: {left}")


async def refuse_stale(parts: Forgetter, before_ms: int) -> None:
    age_ms = await read_present_moment(parts.redis, parts.partitions) - before_ms
    if age_ms > LONGEST_MS:
        raise Invalid(f"this was asked for {age_ms // 3_600_000} hours ago and would take newer turns along; ask again")


async def clear(
    context: JobContext[Forgetter], places: Sequence[Place], run: ForgettingRun, removed: Counter[str]
) -> None:
    for place in places:
        removed[place.name] += await place.clear(run)
        await context.checkpoint(dict(removed))
        crash_point(f"forget_{place.name}")


async def erase(parts: Forgetter) -> list[Remainder]:
    """Takes what was deleted out of the files below; returns what remains in them.

    Done even if nothing was found to be removed: it may have been deleted before, and still be in a file.
    """
    names = await memory_collections(parts.store)
    return [*await erase_log(parts.redis), *await erase_records(parts.store, names, parts.clock)]


def drop_job_records(connection: BlockingRedis, target: Target) -> None:
    """Deletes the records of ended compactions of what is forgotten: an error in one may quote what was said."""
    queue = open_queue(connection, QUEUE)
    for registry in (queue.finished_job_registry, queue.failed_job_registry):
        for job_id in registry.get_job_ids(cleanup=False):
            job = find(connection, job_id)
            if job is not None and job.has_ended and is_compaction_of(job, target):
                job.delete()


def is_compaction_of(job: NamedJob, target: Target) -> bool:
    """Tells whether a job compacts what is to be forgotten, or may: its name does not say which turns a session has."""
    try:
        call = job.call
    except Invalid:
        return False
    if call.name != JOB or call.args.get("tenant") != target.tenant:
        return False
    if target.user not in (None, call.args.get("user")):
        return False
    return target.kind is not TargetKind.SESSION or call.args.get("session") == target.name


async def count_left(places: Sequence[Place], run: ForgettingRun) -> dict[str, int]:
    counted = {place.name: await place.count_left(run) for place in places}
    return {name: count for name, count in counted.items() if count}


def read_checkpoint(checkpoint: JsonValue) -> Mapping[str, int]:
    """Reads the counts of an earlier attempt; nothing is skipped because of it."""
    match checkpoint:
        case None:
            return {}
        case dict(counts):
            return {name: count for name, count in counts.items() if isinstance(count, int)}
    raise Invalid(f"the checkpoint of a forgetting is not one of its own: {checkpoint!r}")


def make_receipt(
    run: ForgettingRun, removed: Counter[str], remaining: Sequence[Remainder], now_ms: int
) -> dict[str, JsonValue]:
    return {
        "target": run.target.arguments(),
        "before": run.before_ms,
        "removed": dict(removed),
        "verified": True,
        "remains": [one.as_json() for one in remaining],
        "at": now_ms,
    }
