"""Queues a job durably and at most once per id."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue
from redis import Redis
from redis.client import Pipeline
from rq import Queue, Retry
from rq.exceptions import NoSuchJobError
from rq.serializers import JSONSerializer

from lithify.errors import Invalid
from lithify.jobs import keys
from lithify.jobs.connection import in_thread, transact
from lithify.jobs.record import ENTRY, NamedJob
from lithify.telemetry.trace_context import HEADER as TRACEPARENT

DAY_S: Final = 86_400

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Policy:
    """Says how long and how often a job is tried, and how long its record is kept once it has ended."""

    timeout_s: int = 3_600
    # Pauses between attempts. RQ calls a job failed at the first crash of its worker if there is none.
    retry_after_s: tuple[int, ...] = (10, 60, 300, 900)
    result_ttl_s: int = DAY_S
    failure_ttl_s: int = 14 * DAY_S

    def __post_init__(self) -> None:
        if not self.retry_after_s or min(*self.retry_after_s, self.timeout_s) <= 0:
            raise Invalid("a job needs a timeout and at least one retry, all of them above 0 seconds")
        if min(self.result_ttl_s, self.failure_ttl_s) <= 0:
            raise Invalid("the records of ended jobs must be kept for some seconds, and not forever")


@dataclass(frozen=True, slots=True)
class Ticket:
    job_id: str
    # False if a job of this id was there already.
    is_new: bool


async def enqueue(
    queue: Queue,
    name: str,
    args: Mapping[str, JsonValue],
    *,
    unique_id: str,
    policy: Policy | None = None,
    traceparent: str | None = None,
) -> Ticket:
    """Queues a job, durably on return.

    While a job of this name and id waits or runs there is no second one; an ended one is replaced. `traceparent` is
    the trace context of the turn that caused it, for the log.

    Raises Invalid for a bad name or arguments that are not JSON, Unavailable if Redis did not answer; the job may be
    queued or not then, and sending the same again is safe.
    """
    return await in_thread(
        put, queue, name, args, unique_id=unique_id, policy=policy or Policy(), traceparent=traceparent
    )


def job_id(name: str, unique_id: str) -> str:
    """Makes an id of letters, digits, dash and underscore, as RQ wants; ids of sessions and documents hold anything."""
    return f"{name}-{hashlib.blake2b(unique_id.encode(), digest_size=16).hexdigest()}"


def put(
    queue: Queue,
    name: str,
    args: Mapping[str, JsonValue],
    unique_id: str,
    policy: Policy,
    *,
    rerun: bool = True,
    traceparent: str | None = None,
) -> Ticket:
    """Does what `enqueue` does, but blocks; without `rerun` an ended job counts as there, too."""
    job = _draft(queue, name, args, unique_id=unique_id, policy=policy)
    if traceparent:
        job.meta[TRACEPARENT] = traceparent

    def step(pipe: Pipeline) -> Ticket:
        earlier = find(queue.connection, job.id)
        if earlier is not None and not (rerun and earlier.has_ended):
            return Ticket(job.id, is_new=False)
        pipe.multi()
        _forget(earlier or job, pipe)
        queue.enqueue_job(job, pipeline=pipe)
        return Ticket(job.id, is_new=True)

    return transact(queue.connection, job.key, step)


def find(connection: Redis, job_id: str) -> NamedJob | None:
    try:
        return NamedJob.fetch(job_id, connection=connection, serializer=JSONSerializer)  # type: ignore[return-value]  # RQ says Job, makes cls
    except NoSuchJobError:
        return None


def _draft(queue: Queue, name: str, args: Mapping[str, JsonValue], unique_id: str, policy: Policy) -> NamedJob:
    if not _NAME.fullmatch(name):
        raise Invalid(f"job name {name!r} must be of small letters, digits, - and _")
    try:
        json.dumps(dict(args), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Invalid(f"the arguments of job {name} are not JSON: {error}") from error
    return queue.create_job(  # type: ignore[return-value]  # made of the queue's job class
        ENTRY,
        args=[name, dict(args)],
        job_id=job_id(name, unique_id),
        description=f"{name} {unique_id}",
        timeout=policy.timeout_s,
        result_ttl=policy.result_ttl_s,
        failure_ttl=policy.failure_ttl_s,
        retry=Retry(len(policy.retry_after_s), list(policy.retry_after_s)),
    )


def _forget(ended: NamedJob, pipe: Pipeline) -> None:
    """Deletes what an ended job left; above all the new one must not resume where another one had stopped."""
    pipe.delete(ended.key, keys.checkpoint(ended.id))
    ended.finished_job_registry.remove(ended.id, pipeline=pipe)
    ended.failed_job_registry.remove(ended.id, pipeline=pipe)
