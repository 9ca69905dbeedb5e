"""Shows operators the queues and the jobs in them, and lets them try a failed one again.

A tenant's administrator sees the tenant's own jobs; that of the default tenant also those that concern no tenant.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from pydantic import JsonValue
from redis import Redis
from redis.client import Pipeline
from rq import Queue
from rq.job import JobStatus
from rq.serializers import JSONSerializer

from lithify.errors import Invalid
from lithify.events import AnyTenant, Clock, EveryTenant
from lithify.events.scope import DEFAULT_TENANT
from lithify.jobs.connection import in_thread, transact
from lithify.jobs.enqueue import find
from lithify.jobs.record import JobCall, JobOutcome, NamedJob, open_queue

STATUSES: Final = ("started", "queued", "scheduled", "failed", "finished")
# Ids looked at for one list: those of other tenants are passed over, and must not make looking slow.
MOST_LOOKED_AT: Final = 1_000

# RQ takes no other id, and calls one an error instead of missing.
_ID: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class QueueState:
    queue: str
    queued: int
    started: int
    scheduled: int
    deferred: int
    failed: int
    # How long the next job has been waiting; None if none waits.
    oldest_age_ms: int | None


@dataclass(frozen=True, slots=True)
class JobSummary:
    """Its times are in ms; `reason` is the last line of the error of an attempt that failed."""

    job_id: str
    queue: str
    name: str
    status: str
    attempts: int
    enqueued_at: int | None
    started_at: int | None
    ended_at: int | None
    reason: str | None
    args: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class JobDetail:
    """Adds the whole trace of the error, and the result of a job that has one."""

    job: JobSummary
    trace: str | None
    result: JsonValue


async def read_queues(connection: Redis, clock: Clock) -> list[QueueState]:
    """Returns all queues that were ever used, by name. Raises Unavailable."""
    return await in_thread(_read_queues, connection, clock())


async def list_jobs(
    connection: Redis, scope: AnyTenant, queue: str, status: str, limit: int, offset: int = 0
) -> list[JobSummary]:
    """Returns the jobs of a queue in one state.

    Those come first that end or start next; of failed and finished ones the newest.
    Raises Invalid for an unknown state, Unavailable if Redis cannot serve.
    """
    if status not in STATUSES:
        raise Invalid(f"status: {status[:60]!r} is none of {', '.join(STATUSES)}")
    return await in_thread(_list, open_queue(connection, queue), scope, status=status, limit=limit, offset=offset)


async def show_job(connection: Redis, scope: AnyTenant, job_id: str) -> JobDetail | None:
    """Returns None if there is no such job in view. Raises Unavailable if Redis cannot serve."""
    return await in_thread(_show, connection, scope, job_id)


async def retry_failed(connection: Redis, job_id: str) -> None:
    """Queues a failed job again, with all its retries; it resumes at its checkpoint.

    Raises Invalid if there is no such failed job, Unavailable if Redis cannot serve.
    """
    await in_thread(_retry, connection, job_id)


def belongs_to(call: JobCall | None, scope: AnyTenant) -> bool:
    """Says whether the scope may see the job.

    A job that names no tenant is about the whole node, as maintenance is, and the operator's: administrators of the
    default tenant see it. One we cannot read is nobody's but those who need no key.
    """
    if isinstance(scope, EveryTenant):
        return True
    return call is not None and (call.args.get("tenant") or DEFAULT_TENANT) == scope.tenant


def _read_queues(connection: Redis, now_ms: int) -> list[QueueState]:
    queues = Queue.all(connection, job_class=NamedJob, serializer=JSONSerializer)
    return [_state(queue, now_ms) for queue in sorted(queues, key=lambda queue: queue.name)]


def _state(queue: Queue, now_ms: int) -> QueueState:
    popped = queue.intermediate_queue.get_job_ids()
    # Counting must not clean up: RQ would recover abandoned jobs on the way, unguarded against the runners' upkeep.
    return QueueState(
        queue=queue.name,
        queued=queue.count + len(popped),
        started=queue.started_job_registry.get_job_count(cleanup=False),
        scheduled=queue.scheduled_job_registry.get_job_count(cleanup=False),
        deferred=queue.deferred_job_registry.get_job_count(cleanup=False),
        failed=queue.failed_job_registry.get_job_count(cleanup=False),
        oldest_age_ms=_oldest_age_ms(queue, [*popped, *queue.get_job_ids(0, 1)], now_ms),
    )


def _oldest_age_ms(queue: Queue, job_ids: list[str], now_ms: int) -> int | None:
    jobs = NamedJob.fetch_many(job_ids, queue.connection, JSONSerializer)
    ages = [now_ms - int(job.enqueued_at.timestamp() * 1000) for job in jobs if job and job.enqueued_at]
    return max(ages, default=None)


def _list(queue: Queue, scope: AnyTenant, status: str, limit: int, offset: int) -> list[JobSummary]:
    seen = (job for job in _jobs(queue, status) if belongs_to(_call(job), scope))
    return [_summary(job, job.last_attempt()) for job in islice(seen, offset, offset + limit)]


def _jobs(queue: Queue, status: str) -> Iterator[NamedJob]:
    for job_id in _ids(queue)[status]():
        job = find(queue.connection, job_id)
        if job is not None:
            yield job


def _ids(queue: Queue) -> dict[str, Callable[[], list[str]]]:
    """Returns how the ids of each status are read. Reading must not clean up, see the counts in `_state`."""
    last = MOST_LOOKED_AT - 1
    return {
        "queued": lambda: [*queue.intermediate_queue.get_job_ids(), *queue.get_job_ids(0, MOST_LOOKED_AT)],
        "started": lambda: queue.started_job_registry.get_job_ids(0, last, cleanup=False),
        "scheduled": lambda: queue.scheduled_job_registry.get_job_ids(0, last, cleanup=False),
        "failed": lambda: queue.failed_job_registry.get_job_ids(0, last, desc=True, cleanup=False),
        "finished": lambda: queue.finished_job_registry.get_job_ids(0, last, desc=True, cleanup=False),
    }


def _show(connection: Redis, scope: AnyTenant, job_id: str) -> JobDetail | None:
    job = find(connection, job_id) if _ID.fullmatch(job_id) else None
    if job is None or not belongs_to(_call(job), scope):
        return None
    attempt = job.last_attempt()
    return JobDetail(_summary(job, attempt), attempt.trace, attempt.result)


def _summary(job: NamedJob, attempt: JobOutcome) -> JobSummary:
    call = _call(job)
    return JobSummary(
        job_id=job.id,
        queue=job.origin,
        name=call.name if call else "unreadable",
        status=attempt.status,
        attempts=job.attempt + job.outages,
        enqueued_at=_ms(job.enqueued_at),
        started_at=_ms(job.started_at),
        ended_at=_ms(job.ended_at),
        reason=attempt.reason,
        args=dict(call.args) if call else {},
    )


def _call(job: NamedJob) -> JobCall | None:
    try:
        return job.call
    except Invalid:
        return None


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


def _retry(connection: Redis, job_id: str) -> None:
    def step(pipe: Pipeline) -> None:
        job = find(connection, job_id)
        if job is None or job.get_status(refresh=False) != JobStatus.FAILED:
            raise Invalid(f"there is no failed job {job_id}")
        pipe.multi()
        job.failed_job_registry.remove(job_id, pipeline=pipe)
        # RQ's own requeue would leave it without retries, to fail at the first crash, and with the TTL of the failure,
        # to vanish from a long queue; and it takes two steps, between which a crash loses it.
        job.retries_left = len(job.retry_intervals or ())
        job.forget_outages()
        open_queue(connection, job.origin).enqueue_job(job, pipeline=pipe)
        pipe.persist(job.key)

    transact(connection, NamedJob.key_for(job_id), step)
