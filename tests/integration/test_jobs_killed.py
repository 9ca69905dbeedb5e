"""Processes that end in the middle of a job, in every way there is: the job is run to its end by another one."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis
from rq.job import JobStatus

from lithify.jobs import Policy, enqueue, open_queue
from lithify.streams.crash import EXIT_CODE
from tests.integration.jobs_parts import ONE_RETRY, PATIENCE_S, QUEUE, eventually, has_status, opened, record, trace

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def jobs(redis_url: str) -> Iterator[Redis]:
    with opened(redis_url) as connection:
        yield connection


@pytest.fixture
def start(jobs: Redis, redis_url: str, tmp_path: Path) -> Iterator[Start]:
    processes: list[subprocess.Popen[bytes]] = []

    def start_one(*crash_at: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "tests.integration.jobs_process", redis_url, str(tmp_path), *crash_at]
        processes.append(subprocess.Popen(command))
        return processes[-1]

    yield start_one
    for process in processes:
        process.kill()
        process.wait()


def lines(folder: Path) -> list[str]:
    log = folder / "log"
    return log.read_text().splitlines() if log.exists() else []


async def ends(process: "subprocess.Popen[bytes]") -> int:
    await eventually(lambda: process.poll() is not None)
    return process.returncode


async def enqueue_steps(jobs: Redis, count: int, hold_at: int, policy: Policy = ONE_RETRY) -> str:
    args = {"count": count, "hold_at": hold_at}
    return (await enqueue(open_queue(jobs, QUEUE), "steps", args, unique_id="x", policy=policy)).job_id


async def test_a_job_killed_with_its_process_is_retried_and_resumes(jobs: Redis, start: Start, tmp_path: Path) -> None:
    job_id = await enqueue_steps(jobs, count=4, hold_at=2)
    process = start()
    await eventually(lambda: "step 2 in attempt 1" in lines(tmp_path))
    process.kill()
    start()
    await has_status(jobs, job_id, JobStatus.FINISHED)
    assert lines(tmp_path) == [
        "step 0 in attempt 1",
        "step 1 in attempt 1",
        "step 2 in attempt 1",
        "step 2 in attempt 2",
        "step 3 in attempt 2",
    ]
    assert record(jobs, job_id).return_value() == [2, 3]
    assert jobs.zcard(f"rq:failed:{QUEUE}") == 0


@pytest.mark.parametrize(
    ("window", "runs"),
    [
        # Taken off the queue and not begun: with BLPOP, RQ's way for several queues, it would be gone.
        ("after_pop", ["step 0 in attempt 1"]),
        ("before_job", ["step 0 in attempt 2"]),
        ("after_job", ["step 0 in attempt 1"]),
    ],
)
async def test_a_crash_in_any_window_loses_no_job(
    jobs: Redis, start: Start, tmp_path: Path, window: str, runs: list[str]
) -> None:
    job_id = await enqueue_steps(jobs, count=1, hold_at=-1)
    assert await ends(start(window)) == EXIT_CODE
    assert record(jobs, job_id).get_status(refresh=False) in {JobStatus.QUEUED, JobStatus.STARTED}
    start()
    await has_status(jobs, job_id, JobStatus.FINISHED)
    assert lines(tmp_path) == runs
    assert jobs.llen(f"rq:queue:{QUEUE}:intermediate") == 0
    assert jobs.zcard(f"rq:wip:{QUEUE}") == 0


async def test_a_stopped_process_finishes_its_job_and_exits_cleanly(jobs: Redis, start: Start, tmp_path: Path) -> None:
    job_id = await enqueue_steps(jobs, count=2, hold_at=0)
    process = start()
    await eventually(lambda: "step 0 in attempt 1" in lines(tmp_path))
    process.send_signal(signal.SIGTERM)
    (tmp_path / "release").touch()
    assert process.wait(PATIENCE_S) == 0
    assert record(jobs, job_id).get_status(refresh=False) == JobStatus.FINISHED
    assert record(jobs, job_id).attempt == 1


async def test_a_job_that_kills_every_process_is_given_up(jobs: Redis, start: Start, tmp_path: Path) -> None:
    ticket = await enqueue(open_queue(jobs, QUEUE), "deadly", {}, unique_id="x", policy=ONE_RETRY)
    for _ in range(2):
        assert await ends(start()) == -signal.SIGKILL
    start()
    await has_status(jobs, ticket.job_id, JobStatus.FAILED)
    assert lines(tmp_path) == ["died in attempt 1", "died in attempt 2"]
    assert "AbandonedJobError" in trace(jobs, ticket.job_id)


async def test_a_process_that_wakes_after_its_lease_does_no_harm(jobs: Redis, start: Start, tmp_path: Path) -> None:
    job_id = await enqueue_steps(jobs, count=2, hold_at=0)
    sleeper = start()
    await eventually(lambda: "step 0 in attempt 1" in lines(tmp_path))
    sleeper.send_signal(signal.SIGSTOP)
    start()
    await has_status(jobs, job_id, JobStatus.FINISHED)
    (tmp_path / "release").touch()
    sleeper.send_signal(signal.SIGCONT)
    sleeper.send_signal(signal.SIGTERM)
    assert await ends(sleeper) == 0
    assert record(jobs, job_id).get_status(refresh=False) == JobStatus.FINISHED
    assert jobs.zcard(f"rq:wip:{QUEUE}") == jobs.zcard(f"rq:failed:{QUEUE}") == 0
