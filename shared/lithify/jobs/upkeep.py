"""Puts back on the queue what is due again and what a dead process left behind; every runner of a queue does it."""

import structlog
from redis.client import Pipeline
from rq import Queue
from rq.job import Job
from rq.registry import clean_registries
from rq.serializers import JSONSerializer
from rq.worker_registration import clean_worker_registry

from lithify.jobs import keys
from lithify.jobs.connection import transact
from lithify.jobs.enqueue import find
from lithify.jobs.record import NamedJob

log = structlog.get_logger(__name__)


def keep_up(queue: Queue, every_s: int) -> None:
    """Puts back what is due; cheap when nothing is. Whoever comes first recovers lost jobs, too, once per `every_s`."""
    promote_due(queue)
    # RQ's own lock lasts 15 minutes when its holder is killed, and nothing is recovered in that time. Ours is not
    # released but runs out: a killed holder costs one interval.
    if queue.connection.set(keys.upkeep(queue.name), 1, nx=True, ex=every_s):
        clean_registries(queue, [_note_abandoned])
        clean_worker_registry(queue)
        return_popped(queue)


def promote_due(queue: Queue) -> None:
    """Queues the jobs whose pause before the next attempt is over; no other runner can lose or double them."""
    registry = queue.scheduled_job_registry

    def step(pipe: Pipeline) -> None:
        job_ids = registry.get_jobs_to_schedule(chunk_size=100)
        jobs = NamedJob.fetch_many(job_ids, queue.connection, JSONSerializer)
        pipe.multi()
        for job_id, job in zip(job_ids, jobs, strict=True):
            registry.remove(job_id, pipeline=pipe)
            if job is not None:
                queue.enqueue_job(job, pipeline=pipe)

    if registry.get_jobs_to_schedule(chunk_size=1):
        transact(queue.connection, registry.key, step)


def return_popped(queue: Queue) -> None:
    """Puts back jobs that someone took off the queue and never began.

    The first sight proves nothing, the taker may be about to begin; at the second, an interval later, it is dead. RQ
    would charge the job an attempt, and fail it after the last one, though it was never run.
    """
    for job_id in queue.intermediate_queue.get_job_ids():
        if not queue.intermediate_queue.set_first_seen(job_id):
            _return(queue, job_id)


def _return(queue: Queue, job_id: str) -> None:
    popped = queue.intermediate_queue

    def step(pipe: Pipeline) -> bool:
        if job_id not in popped.get_job_ids():
            return False
        pipe.multi()
        pipe.lrem(popped.key, 1, job_id)
        pipe.delete(popped.get_first_seen_key(job_id))
        if _is_readable(queue, job_id):
            queue.push_job_id(job_id, pipeline=pipe, at_front=True)
        return True

    if transact(queue.connection, popped.key, step):
        log.warning("popped_job_returned", job_id=job_id)


def _is_readable(queue: Queue, job_id: str) -> bool:
    try:
        return find(queue.connection, job_id) is not None
    except (ValueError, TypeError, AssertionError) as error:
        # Not written by us; put back, it would come again forever.
        log.error("job_unreadable", job_id=job_id, error=type(error).__name__)
        return False


def _note_abandoned(job: Job, *_error: object) -> None:
    log.warning("job_abandoned", job_id=job.id, retries_left=job.retries_left)
