"""What operators see of the jobs, and the one thing they do: try a failed one again."""

from dataclasses import dataclass

from redis import Redis
from redis.client import Pipeline
from rq import Queue
from rq.job import JobStatus
from rq.serializers import JSONSerializer

from lithify.errors import Invalid
from lithify.events import Clock
from lithify.jobs.connection import in_thread, transact
from lithify.jobs.enqueue import find
from lithify.jobs.record import NamedJob, open_queue


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
class FailedJob:
    job_id: str
    description: str
    attempts: int
    failed_at_ms: int | None
    reason: str
    trace: str


async def read_queues(connection: Redis, clock: Clock) -> list[QueueState]:
    """All queues that were ever used, by name. Raises Unavailable."""
    return await in_thread(_read_queues, connection, clock())


async def list_failed(connection: Redis, queue: str, limit: int, offset: int = 0) -> list[FailedJob]:
    """Failed jobs, those that are kept longest first: the newest, if all have one policy. Raises Unavailable."""
    return await in_thread(_list_failed, open_queue(connection, queue), offset, limit)


async def retry_failed(connection: Redis, job_id: str) -> None:
    """Queue a failed job again, with all its retries; it resumes at its checkpoint.

    Raises Invalid if there is no such failed job, Unavailable if Redis cannot serve.
    """
    await in_thread(_retry, connection, job_id)


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


def _list_failed(queue: Queue, offset: int, limit: int) -> list[FailedJob]:
    job_ids = queue.failed_job_registry.get_job_ids(offset, offset + limit - 1, desc=True, cleanup=False)
    found = (find(queue.connection, job_id) for job_id in job_ids)
    return [_describe(job) for job in found if job is not None]


def _describe(job: NamedJob) -> FailedJob:
    result = job.latest_result()
    trace = (result.exc_string if result else None) or ""
    return FailedJob(
        job_id=job.id,
        description=job.description or "",
        attempts=job.attempt,
        failed_at_ms=int(job.ended_at.timestamp() * 1000) if job.ended_at else None,
        reason=trace.strip().rpartition("\n")[2],
        trace=trace,
    )


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
        open_queue(connection, job.origin).enqueue_job(job, pipeline=pipe)
        pipe.persist(job.key)

    transact(connection, NamedJob.key_for(job_id), step)
