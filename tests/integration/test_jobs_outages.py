"""Outages cost a job no attempt, but they are counted, pauses grow, and after a day whoever waits is told."""

import time
from collections.abc import Iterator

import pytest
from redis import Redis
from rq.job import JobStatus

from lithify.errors import Unavailable
from lithify.events import EVERY_TENANT
from lithify.jobs import JobContext, Policy, enqueue, open_queue
from lithify.jobs.overview import list_jobs, retry_failed
from lithify.jobs.record import OUTAGES, PATIENCE_S
from tests.integration.jobs_parts import ONE_RETRY, QUEUE, eventually, has_status, opened, record, runner, running


@pytest.fixture
def jobs(redis_url: str) -> Iterator[Redis]:
    with opened(redis_url) as connection:
        yield connection


async def test_outages_are_counted_and_their_pauses_grow(jobs: Redis) -> None:
    async def wait_for_a_rebuild(_context: JobContext[None]) -> None:
        raise Unavailable("a rebuild is running")

    policy = Policy(retry_after_s=(1, 600))
    ticket = await enqueue(open_queue(jobs, QUEUE), "held_up", {}, unique_id="x", policy=policy)
    async with running(runner(jobs, {"held_up": wait_for_a_rebuild})):
        await eventually(lambda: record(jobs, ticket.job_id).outages == 2)
        await has_status(jobs, ticket.job_id, JobStatus.SCHEDULED)
    due = open_queue(jobs, QUEUE).scheduled_job_registry.get_scheduled_time(ticket.job_id)
    assert due.timestamp() - time.time() > 300, "the second pause, and not the first again"
    [shown] = await list_jobs(jobs, EVERY_TENANT, QUEUE, "scheduled", 10)
    assert shown.attempts == 3
    assert record(jobs, ticket.job_id).attempt == 1


async def test_job_that_met_nothing_but_outages_for_a_day_is_given_up(jobs: Redis) -> None:
    async def unlucky(_context: JobContext[None]) -> None:
        raise Unavailable("the store is away")

    ticket = await enqueue(open_queue(jobs, QUEUE), "unlucky", {}, unique_id="x", policy=ONE_RETRY)
    job = record(jobs, ticket.job_id)
    job.meta[OUTAGES] = [50, time.time() - PATIENCE_S - 60]
    job.save_meta()  # type: ignore[no-untyped-call]  # RQ types it not
    async with running(runner(jobs, {"unlucky": unlucky})):
        await has_status(jobs, ticket.job_id, JobStatus.FAILED)
    await retry_failed(jobs, ticket.job_id)
    assert record(jobs, ticket.job_id).outages == 0, "tried again by hand it has its day again"
