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
from lithify.forgetter.place import ForgettingRun, Place
from lithify.forgetter.records import Records
from lithify.forgetter.segments import Seal, Segments
from lithify.forgetter.sessions import Sessions
from lithify.forgetter.streams import Backlog, Letters
from lithify.forgetter.traces import Traces
from lithify.forgetting import Target, put_tombstones, read_present_moment
from lithify.forgetting.request import LONGEST_MS
from lithify.jobs import JobContext
from lithify.jobs.connection import in_thread
from lithify.jobs.enqueue import find
from lithify.jobs.record import open_queue
from lithify.store import VectorStore
from lithify.streams import DeadLetters, crash_point

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
        return any(
            job.call.name == JOB
            and job.call.args["tenant"] == target.tenant
            and target.user in (None, job.call.args["user"])
            for job in jobs
        )


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
    seal: Seal | None = None

    def places(self) -> Sequence[Place]:
        """Returns the places in the order in which they are cleared.

        What a worker or a rebuild could bring back goes before what they would bring it to.
        """
        return (
            Sessions(self.redis, self.partitions),
            Backlog(self.redis, self.partitions),
            Segments(self.archive, self.seal),
            Letters(DeadLetters(self.redis, self.partitions, self.clock)),
            Records(self.store, self.redis, self.archive),
            Traces(self.redis),
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
    for _ in range(ROUNDS):
        await clear(context, run, removed)
        await RunningCompactions(context.connection).wait_until_done(run)
        left = await count_left(parts.places(), run)
        if not left:
            log.info("forgotten", kind=kind, removed=removed.total())
            return make_receipt(run, removed, parts.clock())
    raise Unavailable(f"something still brings back what was forgotten: {left}")


async def refuse_stale(parts: Forgetter, before_ms: int) -> None:
    age_ms = await read_present_moment(parts.redis, parts.partitions) - before_ms
    if age_ms > LONGEST_MS:
        raise Invalid(f"this was asked for {age_ms // 3_600_000} hours ago and would take newer turns along; ask again")


async def clear(context: JobContext[Forgetter], run: ForgettingRun, removed: Counter[str]) -> None:
    for place in context.parts.places():
        removed[place.name] += await place.clear(run)
        await context.checkpoint(dict(removed))
        crash_point(f"forget_{place.name}")


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


def make_receipt(run: ForgettingRun, removed: Counter[str], now_ms: int) -> JsonValue:
    return {
        "target": run.target.arguments(),
        "before": run.before_ms,
        "removed": dict(removed),
        "verified": True,
        "at": now_ms,
    }
