"""Jobs one by one, as operators look at them; a tenant's administrator sees the tenant's own and those of nobody."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from pydantic import JsonValue
from redis import Redis
from rq import Queue

from lithify.errors import Invalid
from lithify.events import AnyTenant, EveryTenant
from lithify.jobs.connection import in_thread
from lithify.jobs.enqueue import find
from lithify.jobs.record import Call, NamedJob, open_queue

STATUSES: Final = ("started", "queued", "scheduled", "failed", "finished")
# Ids looked at for one list: those of other tenants are passed over, and must not make looking slow.
MOST_LOOKED_AT: Final = 1_000

# RQ takes no other id, and calls one an error instead of missing.
_ID: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class JobSummary:
    """Times in ms; `reason` is the last line of the error of an attempt that failed."""

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
    """With the whole trace of the error, and the result of a job that has one."""

    job: JobSummary
    trace: str | None
    result: JsonValue


async def list_jobs(
    connection: Redis, scope: AnyTenant, queue: str, status: str, limit: int, offset: int = 0
) -> list[JobSummary]:
    """The jobs of a queue in one state, those first that end or start next, failed and finished ones newest first.

    Raises Invalid for an unknown state, Unavailable if Redis cannot serve.
    """
    if status not in STATUSES:
        raise Invalid(f"status: {status[:60]!r} is none of {', '.join(STATUSES)}")
    return await in_thread(_list, open_queue(connection, queue), scope, status, limit, offset)


async def show_job(connection: Redis, scope: AnyTenant, job_id: str) -> JobDetail | None:
    """None if there is no such job in view. Raises Unavailable if Redis cannot serve."""
    return await in_thread(_show, connection, scope, job_id)


def belongs_to(call: Call | None, scope: AnyTenant) -> bool:
    """A job that names no tenant is about the whole node, as maintenance is; one we cannot read is the operator's."""
    if isinstance(scope, EveryTenant):
        return True
    return call is not None and call.args.get("tenant") in (None, scope.tenant)


def _list(queue: Queue, scope: AnyTenant, status: str, limit: int, offset: int) -> list[JobSummary]:
    seen = (job for job in _jobs(queue, status) if belongs_to(_call(job), scope))
    return [_summary(job) for job in islice(seen, offset, offset + limit)]


def _jobs(queue: Queue, status: str) -> Iterator[NamedJob]:
    for job_id in _ids(queue)[status]():
        job = find(queue.connection, job_id)
        if job is not None:
            yield job


def _ids(queue: Queue) -> dict[str, Callable[[], list[str]]]:
    """Reading must not clean up, see the counts in `overview`."""
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
    latest = job.latest_result()
    return JobDetail(_summary(job), _trace(job), latest.return_value if latest else None)


def _summary(job: NamedJob) -> JobSummary:
    call, trace = _call(job), _trace(job)
    return JobSummary(
        job_id=job.id,
        queue=job.origin,
        name=call.name if call else "unreadable",
        status=job.get_status(refresh=False).value,
        attempts=job.attempt,
        enqueued_at=_ms(job.enqueued_at),
        started_at=_ms(job.started_at),
        ended_at=_ms(job.ended_at),
        reason=trace.strip().rpartition("\n")[2] if trace else None,
        args=dict(call.args) if call else {},
    )


def _call(job: NamedJob) -> Call | None:
    try:
        return job.call
    except Invalid:
        return None


def _trace(job: NamedJob) -> str | None:
    latest = job.latest_result()
    return latest.exc_string if latest else None


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
