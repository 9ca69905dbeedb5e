"""What operators see of the jobs is true, and looking changes nothing."""

import asyncio
from collections.abc import Iterator

import pytest
from pydantic import JsonValue
from redis import Redis
from rq.job import JobStatus
from rq.utils import current_timestamp

from lithify.errors import Invalid
from lithify.events import EVERY_TENANT, system_clock
from lithify.jobs import JobContext, Policy, enqueue, list_jobs, open_queue, read_queues, retry_failed, show_job
from lithify.jobs.rq_slot import RqSlot
from tests.integration.jobs_parts import ONE_RETRY, QUEUE, has_status, opened, queued, record, runner, running


@pytest.fixture
def jobs(redis_url: str) -> Iterator[Redis]:
    with opened(redis_url) as connection:
        yield connection


async def spoil(context: JobContext[None]) -> None:
    raise Invalid("spoilt")


async def put_failed(jobs: Redis, unique_id: str) -> str:
    ticket = await enqueue(open_queue(jobs, QUEUE), "spoil", {}, unique_id=unique_id)
    async with running(runner(jobs, {"spoil": spoil})):
        await has_status(jobs, ticket.job_id, JobStatus.FAILED)
    return ticket.job_id


async def test_jobs_are_counted_by_queue_and_status(jobs: Redis) -> None:
    async def stumble(context: JobContext[None]) -> None:
        raise RuntimeError

    begun = asyncio.Event()

    async def wait(context: JobContext[None]) -> None:
        begun.set()
        await asyncio.Event().wait()

    queue = open_queue(jobs, QUEUE)
    await put_failed(jobs, "failed")
    stumbling = await enqueue(queue, "stumble", {}, unique_id="x", policy=Policy(retry_after_s=(600,)))
    await enqueue(queue, "wait", {}, unique_id="x")
    task = asyncio.create_task(runner(jobs, {"stumble": stumble, "wait": wait}).run())
    await begun.wait()
    await enqueue(queue, "wait", {}, unique_id="y")
    await enqueue(open_queue(jobs, "docs"), "sync", {}, unique_id="x")
    compaction, docs = await read_queues(jobs, system_clock)
    task.cancel()
    await asyncio.wait([task])
    assert (docs.queue, docs.queued, docs.failed) == ("docs", 1, 0)
    assert (compaction.queue, compaction.queued, compaction.started) == (QUEUE, 1, 1)
    assert (compaction.scheduled, compaction.failed, compaction.deferred) == (1, 1, 0)
    assert record(jobs, stumbling.job_id).attempt == 2


async def test_the_oldest_waiting_job_tells_the_age_of_its_queue(jobs: Redis) -> None:
    assert await read_queues(jobs, system_clock) == []
    queue = open_queue(jobs, QUEUE)
    ticket = await enqueue(queue, "compact", {}, unique_id="1")
    await enqueue(queue, "compact", {}, unique_id="2")
    enqueued_at = record(jobs, ticket.job_id).enqueued_at
    assert enqueued_at is not None
    then = int(enqueued_at.timestamp() * 1000)
    [state] = await read_queues(jobs, lambda: then + 90_000)
    assert state.oldest_age_ms == 90_000
    RqSlot.open(queue, 60).pop(0.1)
    [state] = await read_queues(jobs, lambda: then + 90_000)
    assert (state.queued, state.oldest_age_ms) == (2, 90_000), "a popped job is waiting until it is begun"


async def test_looking_recovers_nothing(jobs: Redis) -> None:
    queue = open_queue(jobs, QUEUE)
    ticket = await enqueue(queue, "compact", {}, unique_id="x")
    slot = RqSlot.open(queue, 60)
    job = slot.pop(1)
    assert job is not None
    slot.begin(job)
    assert slot.execution is not None
    jobs.zadd(f"rq:wip:{QUEUE}", {slot.execution.composite_key: current_timestamp() - 1})
    [state] = await read_queues(jobs, system_clock)
    assert (state.started, state.scheduled) == (1, 0)
    assert record(jobs, ticket.job_id).retries_left == len(Policy().retry_after_s)


async def test_failed_jobs_are_listed_with_their_trace(jobs: Redis) -> None:
    job_id = await put_failed(jobs, "tenant/session")
    [failed] = await list_jobs(jobs, EVERY_TENANT, QUEUE, "failed", limit=10)
    shown = await show_job(jobs, EVERY_TENANT, job_id)
    assert shown is not None
    assert shown.job == failed
    assert (failed.job_id, failed.name) == (job_id, "spoil")
    assert failed.reason == "lithify.errors.Invalid: spoilt"
    assert "in spoil" in (shown.trace or "")
    assert failed.attempts == 1
    assert failed.ended_at is not None
    assert await list_jobs(jobs, EVERY_TENANT, QUEUE, "failed", limit=10, offset=1) == []


async def test_a_failed_job_tried_again_resumes_and_cannot_get_lost(jobs: Redis) -> None:
    async def stumble(context: JobContext[None]) -> None:
        await context.checkpoint(5)
        raise RuntimeError

    ticket = await enqueue(open_queue(jobs, QUEUE), "walk", {}, unique_id="x", policy=ONE_RETRY)
    async with running(runner(jobs, {"walk": stumble})):
        await has_status(jobs, ticket.job_id, JobStatus.FAILED)
    await retry_failed(jobs, ticket.job_id)
    job = record(jobs, ticket.job_id)
    assert queued(jobs) == [ticket.job_id]
    assert job.retries_left == 1, "without retries it would fail at the first crash"
    assert jobs.ttl(job.key) == -1, "with the TTL of the failure it would vanish from a long queue"
    resumed: list[JsonValue] = []

    async def resume(context: JobContext[None]) -> None:
        resumed.append(await context.resume())

    async with running(runner(jobs, {"walk": resume})):
        await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    assert resumed == [5]
    assert await list_jobs(jobs, EVERY_TENANT, QUEUE, "failed", limit=10) == []


async def test_only_failed_jobs_can_be_tried_again(jobs: Redis) -> None:
    ticket = await enqueue(open_queue(jobs, QUEUE), "compact", {}, unique_id="x", policy=ONE_RETRY)
    for job_id in (ticket.job_id, "unknown"):
        with pytest.raises(Invalid, match=f"no failed job {job_id}"):
            await retry_failed(jobs, job_id)
    assert queued(jobs) == [ticket.job_id]
