"""Whoever can write to Redis cannot run code, and running jobs does not touch the process around them."""

import asyncio
import json
import os
import pickle
import signal
import threading
import zlib
from collections.abc import Iterator

import pytest
from redis import Redis
from rq import Callback, Queue, Retry
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer

from lithify.jobs import JobContext, enqueue, open_queue
from tests.integration.jobs_parts import QUEUE, QUICK, eventually, has_status, opened, queued, runner, running, trace

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGCHLD)

_executed: list[str] = []


@pytest.fixture
def jobs(redis_url: str) -> Iterator[Redis]:
    _executed.clear()
    with opened(redis_url) as connection:
        yield connection
    assert _executed == [], "a payload was executed"


def attack(*args: object) -> None:
    """What an attacker would like to be called; importable, so that RQ's own classes would find it."""
    _executed.append(repr(args))


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return attack, ("unpickled",)


async def nothing(context: JobContext[None]) -> None:
    """Always succeeds."""


def smuggle(connection: Redis, data: bytes) -> str:
    """A job as a stranger with access to Redis could write it."""
    queue = Queue(QUEUE, connection=connection, serializer=JSONSerializer)
    job = queue.enqueue("lithify.jobs.run", job_id="smuggled", retry=Retry(1), failure_ttl=60)
    connection.hset(job.key, "data", zlib.compress(data))
    return job.id


async def test_a_pickled_payload_is_not_executed(jobs: Redis) -> None:
    job_id = smuggle(jobs, pickle.dumps(("lithify.jobs.run", None, ("nothing", Bomb()), {})))
    jobs.hset(f"rq:job:{job_id}", mapping={"meta": pickle.dumps(Bomb()), "result": pickle.dumps(Bomb())})
    async with running(runner(jobs, {"nothing": nothing})):
        await has_status(jobs, job_id, JobStatus.FAILED)
    assert "the payload of job smuggled is not JSON" in trace(jobs, job_id)


def test_the_pickle_would_be_executed_by_rq_as_it_comes(redis_url: str) -> None:
    with opened(redis_url) as connection:
        job_id = smuggle(connection, pickle.dumps(("lithify.jobs.run", None, ("nothing", Bomb()), {})))
        assert Job.fetch(job_id, connection=connection).args == ("nothing", None)
        assert _executed == ["('unpickled',)"]


@pytest.mark.parametrize(
    "payload",
    [
        [f"{__name__}.attack", None, ["named"], {}],
        [f"{__name__}.attack", None, ["nothing", {}], {}],
        ["lithify.jobs.run", "instance", ["nothing", {}], {}],
        ["lithify.jobs.run", None, ["nothing", {}], {"more": 1}],
        ["lithify.jobs.run", None, [["nothing"], {}], {}],
        "four",
    ],
)
async def test_json_cannot_name_another_function(jobs: Redis, payload: object) -> None:
    job_id = smuggle(jobs, json.dumps(payload).encode())
    async with running(runner(jobs, {"nothing": nothing})):
        await has_status(jobs, job_id, JobStatus.FAILED)
    assert "is not a call of lithify.jobs.run" in trace(jobs, job_id)


@pytest.mark.parametrize("name", ["nothing", "unknown"])
async def test_callbacks_are_not_called_however_a_job_ends(jobs: Redis, name: str) -> None:
    queue, callback = Queue(QUEUE, connection=jobs, serializer=JSONSerializer), Callback(attack)
    job = queue.enqueue("lithify.jobs.run", name, {}, on_success=callback, on_failure=callback, failure_ttl=60)
    async with running(runner(jobs, {"nothing": nothing})):
        await has_status(jobs, job.id, JobStatus.FINISHED if name == "nothing" else JobStatus.FAILED)


async def test_callbacks_are_not_called_for_an_abandoned_job(jobs: Redis) -> None:
    queue = Queue(QUEUE, connection=jobs, serializer=JSONSerializer)
    job = queue.enqueue("lithify.jobs.run", "wait", {}, on_failure=Callback(attack), retry=Retry(1))
    begun = asyncio.Event()

    async def wait(context: JobContext[None]) -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(runner(jobs, {"wait": wait}, QUICK).run())
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    async with running(runner(jobs, {"wait": nothing}, QUICK)):
        await has_status(jobs, job.id, JobStatus.FINISHED)


@pytest.mark.parametrize("job_id", ["no such job", "broken", "x:y"])
async def test_a_record_nobody_can_read_does_not_stop_the_others(jobs: Redis, job_id: str) -> None:
    jobs.hset("rq:job:broken", mapping={"data": b"?", "created_at": "yesterday"})
    jobs.rpush(f"rq:queue:{QUEUE}", job_id)
    ticket = await enqueue(open_queue(jobs, QUEUE), "nothing", {}, unique_id="x")
    async with running(runner(jobs, {"nothing": nothing}, QUICK)):
        await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
        await eventually(lambda: not jobs.exists(f"rq:queue:{QUEUE}:intermediate"))
    jobs.delete("rq:job:broken")
    assert queued(jobs) == []


def test_jobs_run_in_any_thread_without_fork_or_signal_handlers(jobs: Redis) -> None:
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    forks: list[int] = []
    os.register_at_fork(before=lambda: forks.append(os.getpid()))
    seen: list[tuple[int, str]] = []

    async def look(context: JobContext[None]) -> None:
        seen.append((os.getpid(), threading.current_thread().name))

    async def main() -> None:
        ticket = await enqueue(open_queue(jobs, QUEUE), "look", {}, unique_id="x")
        async with running(runner(jobs, {"look": look}, QUICK)):
            await has_status(jobs, ticket.job_id, JobStatus.FINISHED)
            seen_handlers = {number: signal.getsignal(number) for number in SIGNALS}
            assert seen_handlers == handlers

    thread = threading.Thread(target=lambda: asyncio.run(main()), name="node")
    thread.start()
    thread.join()
    assert seen == [(os.getpid(), "node")]
    assert forks == []


async def test_a_job_of_another_queue_is_left_alone(jobs: Redis) -> None:
    other = await enqueue(open_queue(jobs, "docs"), "nothing", {}, unique_id="x")
    mine = await enqueue(open_queue(jobs, QUEUE), "nothing", {}, unique_id="y")
    async with running(runner(jobs, {"nothing": nothing})):
        await has_status(jobs, mine.job_id, JobStatus.FINISHED)
    assert open_queue(jobs, "docs").job_ids == [other.job_id]
