"""Running jobs: each once per id, tried again when it fails, never more at a time than there are slots."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

import pytest
from pydantic import JsonValue
from redis import Redis
from rq.job import JobStatus

from lithify.errors import Invalid, Unavailable
from lithify.jobs import JobContext, Policy, RunnerSettings, enqueue, open_connection, open_queue
from lithify.node.redis_server import EmbeddedRedis
from tests.integration.jobs_parts import (
    CALM,
    ONE_RETRY,
    QUEUE,
    QUICK,
    eventually,
    has_status,
    opened,
    queued,
    record,
    runner,
    running,
    trace,
)
from tests.integration.jobs_parts import status as status_of


@pytest.fixture
def jobs(redis_url: str) -> Iterator[Redis]:
    with opened(redis_url) as connection:
        yield connection


class Gate:
    """A job that waits inside until the test lets it go."""

    def __init__(self) -> None:
        self.entered = 0
        self.inside = 0
        self.most_inside = 0
        self.arrived = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self, _context: JobContext[None]) -> None:
        self.entered += 1
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        self.arrived.set()
        await self.opened.wait()
        self.inside -= 1


async def nothing(context: JobContext[None]) -> None:
    """Always succeeds."""


async def test_a_job_gets_its_arguments_and_its_result_is_kept_for_a_while(jobs: Redis) -> None:
    async def add(context: JobContext[None], a: int, b: int) -> dict[str, int]:
        return {"sum": a + b, "attempt": context.attempt}

    ticket = await enqueue(open_queue(jobs, QUEUE), "add", {"a": 2, "b": 3}, unique_id="x")
    async with running(runner(jobs, {"add": add})):
        await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    assert record(jobs, ticket.job_id).return_value() == {"sum": 5, "attempt": 1}
    assert 0 < int(jobs.ttl(f"rq:job:{ticket.job_id}")) <= Policy().result_ttl_s


async def test_every_job_is_queued_with_retries_and_a_timeout(jobs: Redis) -> None:
    ticket = await enqueue(open_queue(jobs, QUEUE), "compact", {}, unique_id="x")
    job = record(jobs, ticket.job_id)
    assert job.retries_left == len(job.retry_intervals or ()) == len(Policy().retry_after_s)
    assert job.timeout == Policy().timeout_s


async def test_a_job_that_waits_is_not_queued_twice(jobs: Redis) -> None:
    queue = open_queue(jobs, QUEUE)
    first = await enqueue(queue, "compact", {"n": 1}, unique_id="tenant:session ü")
    second = await enqueue(queue, "compact", {"n": 2}, unique_id="tenant:session ü")
    other = await enqueue(queue, "compact", {}, unique_id="tenant:session u")
    assert (first.is_new, second.is_new, other.is_new) == (True, False, True)
    assert second.job_id == first.job_id
    assert queued(jobs) == [first.job_id, other.job_id]
    assert record(jobs, first.job_id).call.args == {"n": 1}


async def test_a_job_sent_by_many_at_once_is_queued_once(jobs: Redis) -> None:
    queue = open_queue(jobs, QUEUE)
    tickets = await asyncio.gather(*(enqueue(queue, "compact", {}, unique_id="x") for _ in range(20)))
    assert sum(ticket.is_new for ticket in tickets) == 1
    assert len(queued(jobs)) == 1


async def test_a_job_that_runs_is_not_queued_again_and_one_that_ended_is(jobs: Redis) -> None:
    gate, queue = Gate(), open_queue(jobs, QUEUE)
    await enqueue(queue, "wait", {}, unique_id="x")
    async with running(runner(jobs, {"wait": gate})):
        await gate.arrived.wait()
        during = await enqueue(queue, "wait", {}, unique_id="x")
        gate.opened.set()
        await has_status(jobs, during.job_id, JobStatus.FINISHED)
    after = await enqueue(queue, "wait", {}, unique_id="x")
    assert (during.is_new, after.is_new) == (False, True)
    assert queued(jobs) == [after.job_id]
    assert jobs.zcard(f"rq:finished:{QUEUE}") == 0
    assert jobs.ttl(f"rq:job:{after.job_id}") == -1, "a job that waits must not expire"


async def test_a_failed_job_may_be_queued_again_from_the_start(jobs: Redis) -> None:
    async def spoil(context: JobContext[None]) -> None:
        await context.checkpoint(7)
        raise Invalid("spoilt")

    queue = open_queue(jobs, QUEUE)
    ticket = await enqueue(queue, "job", {}, unique_id="x")
    async with running(runner(jobs, {"job": spoil})):
        await has_status(jobs, ticket.job_id, JobStatus.FAILED)
    resumed: list[JsonValue] = []

    async def resume(context: JobContext[None]) -> None:
        resumed.append(await context.resume())

    assert (await enqueue(queue, "job", {}, unique_id="x")).is_new
    async with running(runner(jobs, {"job": resume})):
        await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    assert resumed == [None]
    assert jobs.zcard(f"rq:failed:{QUEUE}") == 0


@pytest.mark.parametrize(
    ("name", "args", "reason"),
    [
        ("unheard-of", {}, "no job is named unheard-of; this process knows: nothing, odd"),
        ("nothing", {"surplus": 1}, "job nothing cannot be called with ['surplus']"),
        ("odd", {}, "job odd must return JSON"),
    ],
)
async def test_a_job_that_can_never_succeed_fails_at_once(
    jobs: Redis, name: str, args: dict[str, JsonValue], reason: str
) -> None:
    async def odd(context: JobContext[None]) -> object:
        return object()

    ticket = await enqueue(open_queue(jobs, QUEUE), name, args, unique_id="x")
    async with running(runner(jobs, {"nothing": nothing, "odd": odd})):
        await has_status(jobs, ticket.job_id, JobStatus.FAILED)
    assert reason in trace(jobs, ticket.job_id)
    assert record(jobs, ticket.job_id).attempt == 1


async def test_a_job_that_fails_is_tried_again_after_its_pause_and_given_up_after_the_last(jobs: Redis) -> None:
    attempts: list[int] = []

    async def fail(context: JobContext[None]) -> None:
        attempts.append(context.attempt)
        raise RuntimeError("broken")

    ticket = await enqueue(open_queue(jobs, QUEUE), "fail", {}, unique_id="x", policy=ONE_RETRY)
    async with running(runner(jobs, {"fail": fail})):
        await has_status(jobs, ticket.job_id, JobStatus.FAILED)
    assert attempts == [1, 2]
    assert "RuntimeError: broken" in trace(jobs, ticket.job_id)


async def test_an_outage_costs_a_job_no_attempt(jobs: Redis) -> None:
    attempts: list[int] = []

    async def unlucky(context: JobContext[None]) -> None:
        attempts.append(context.attempt)
        if len(attempts) < 4:
            raise Unavailable("the store is away")

    ticket = await enqueue(open_queue(jobs, QUEUE), "unlucky", {}, unique_id="x", policy=ONE_RETRY)
    async with running(runner(jobs, {"unlucky": unlucky})):
        await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    assert attempts == [1, 1, 1, 1]


async def test_a_job_that_takes_too_long_is_broken_off_and_tried_again(jobs: Redis) -> None:
    async def hang(context: JobContext[None]) -> None:
        if context.attempt == 1:
            await asyncio.Event().wait()

    policy = Policy(timeout_s=1, retry_after_s=(1,))
    ticket = await enqueue(open_queue(jobs, QUEUE), "hang", {}, unique_id="x", policy=policy)
    async with running(runner(jobs, {"hang": hang})):
        await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    assert record(jobs, ticket.job_id).attempt == 2


async def test_a_job_cancelled_from_inside_fails_alone(jobs: Redis) -> None:
    async def trip(context: JobContext[None]) -> None:
        if context.attempt == 1:
            raise asyncio.CancelledError

    ticket = await enqueue(open_queue(jobs, QUEUE), "trip", {}, unique_id="x", policy=ONE_RETRY)
    async with running(runner(jobs, {"trip": trip})):
        await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    assert record(jobs, ticket.job_id).attempt == 2


async def test_no_more_jobs_run_at_a_time_than_there_are_slots(jobs: Redis) -> None:
    gate, queue = Gate(), open_queue(jobs, QUEUE)
    tickets = [await enqueue(queue, "wait", {}, unique_id=str(n)) for n in range(5)]
    async with running(runner(jobs, {"wait": gate}, RunnerSettings(slots=2, block_s=0.02))):
        while gate.inside < 2:
            gate.arrived.clear()
            await gate.arrived.wait()
        assert len(queued(jobs)) == 3
        gate.opened.set()
        for ticket in tickets:
            await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    assert gate.most_inside == 2


async def test_stopping_finishes_what_was_begun_and_leaves_the_rest_queued(jobs: Redis) -> None:
    gate, queue = Gate(), open_queue(jobs, QUEUE)
    first = await enqueue(queue, "wait", {}, unique_id="1")
    second = await enqueue(queue, "wait", {}, unique_id="2")
    worker = runner(jobs, {"wait": gate})
    async with running(worker):
        await gate.arrived.wait()
        ready = [worker.ready]
        worker.stop()
        ready.append(worker.ready)
        gate.opened.set()
    assert ready == [True, False]
    assert status_of(jobs, first.job_id) == JobStatus.FINISHED
    assert queued(jobs) == [second.job_id]
    assert jobs.smembers("rq:workers") == set()


def lease_end(connection: Redis) -> float:
    [execution] = open_queue(connection, QUEUE).started_job_registry.get_job_and_execution_ids(cleanup=False)
    return float(str(connection.zscore(f"rq:wip:{QUEUE}", ":".join(execution))))


async def test_a_lease_is_renewed_for_as_long_as_the_job_runs(jobs: Redis) -> None:
    gate = Gate()
    ticket = await enqueue(open_queue(jobs, QUEUE), "wait", {}, unique_id="x", policy=ONE_RETRY)
    async with running(runner(jobs, {"wait": gate}, QUICK), runner(jobs, {"wait": gate}, QUICK)):
        await gate.arrived.wait()
        first_end = lease_end(jobs)
        # By then the other runner would have taken a job whose lease was given once only.
        await eventually(lambda: lease_end(jobs) >= first_end + 2 * QUICK.lease_s)
        gate.opened.set()
        await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    assert gate.entered == 1


async def test_cancelling_leaves_the_job_to_be_tried_again(jobs: Redis) -> None:
    gate = Gate()
    ticket = await enqueue(open_queue(jobs, QUEUE), "wait", {}, unique_id="x", policy=ONE_RETRY)
    task = asyncio.create_task(runner(jobs, {"wait": gate}, QUICK).run())
    await gate.arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with running(runner(jobs, {"wait": nothing}, QUICK)):
        await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    assert record(jobs, ticket.job_id).attempt == 2


async def test_a_job_resumes_at_its_checkpoint_and_the_checkpoint_dies_with_success(jobs: Redis) -> None:
    seen: list[tuple[int, JsonValue]] = []
    ttls: list[int] = []

    async def walk(context: JobContext[None]) -> None:
        seen.append((context.attempt, await context.resume()))
        await context.checkpoint({"cursor": [context.attempt]})
        ttls.append(int(jobs.ttl(f"lithify:jobs:checkpoint:{context.job_id}")))
        if context.attempt == 1:
            raise RuntimeError("stumbled")

    ticket = await enqueue(open_queue(jobs, QUEUE), "walk", {}, unique_id="x", policy=ONE_RETRY)
    async with running(runner(jobs, {"walk": walk})):
        await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    assert seen == [(1, None), (2, {"cursor": [1]})]
    assert min(ttls) > 0
    assert not jobs.exists(f"lithify:jobs:checkpoint:{ticket.job_id}")


async def test_work_that_needs_a_processor_leaves_the_loop(jobs: Redis) -> None:
    threads: list[str] = []

    async def crunch(context: JobContext[None]) -> int:
        threads.append(threading.current_thread().name)
        threads.append(await context.offload(lambda: threading.current_thread().name))
        return await context.offload(pow, 2, 10)

    ticket = await enqueue(open_queue(jobs, QUEUE), "crunch", {}, unique_id="x")
    with ThreadPoolExecutor(1, thread_name_prefix="cruncher") as executor:
        async with running(runner(jobs, {"crunch": crunch}, CALM, executor)):
            await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    assert threads == ["MainThread", "cruncher_0"]
    assert record(jobs, ticket.job_id).return_value() == 1024


async def test_a_restart_of_redis_loses_no_job_and_needs_no_operator(tmp_path_factory: pytest.TempPathFactory) -> None:
    gate = Gate()
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(EmbeddedRedis(tmp_path_factory.mktemp("jobs"), fsync="always"))
        connection = stack.enter_context(open_connection(server.url))
        queue = open_queue(connection, QUEUE)
        begun = await enqueue(queue, "wait", {}, unique_id="begun")
        waiting = await enqueue(queue, "wait", {}, unique_id="waiting")
        worker = runner(connection, {"wait": gate})
        await stack.enter_async_context(running(worker))
        await gate.arrived.wait()
        server.process.kill()
        await server.process.wait()
        with pytest.raises(Unavailable):
            await enqueue(queue, "wait", {}, unique_id="refused")
        gate.opened.set()
        await server.start()
        await has_status(connection, begun.job_id, JobStatus.FINISHED)
        await has_status(connection, waiting.job_id, JobStatus.FINISHED)
        assert record(connection, begun.job_id).attempt == 1
        assert worker.ready


@pytest.mark.parametrize("args", [{"at": object()}, {"score": float("nan")}])
async def test_arguments_that_are_not_json_are_refused(jobs: Redis, args: dict[str, JsonValue]) -> None:
    with pytest.raises(Invalid, match="arguments of job compact are not JSON"):
        await enqueue(open_queue(jobs, QUEUE), "compact", args, unique_id="x")
    assert queued(jobs) == []
