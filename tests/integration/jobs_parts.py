"""What the job tests are made of: a connection that is checked for leaks, and runners that run inside the test."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from redis import Redis
from rq.job import JobStatus

from lithify.events import system_clock
from lithify.jobs import JobRunner, Policy, Registry, RunnerSettings, open_connection, open_queue
from lithify.jobs.enqueue import find
from lithify.jobs.keys import is_permanent
from lithify.jobs.record import NamedJob

QUEUE: Final = "compaction"
PATIENCE_S: Final = 60.0

# RQ counts in whole seconds: these are the shortest times there are.
QUICK: Final = RunnerSettings(block_s=0.02, lease_s=2, upkeep_s=1)
# Nothing runs out while a test looks at something else.
CALM: Final = RunnerSettings(block_s=0.02, lease_s=60, upkeep_s=60)

ONE_RETRY: Final = Policy(retry_after_s=(1,))


@contextmanager
def opened(redis_url: str) -> Iterator[Redis]:
    """A connection to an empty server; fails the test if it leaves a key nobody would ever delete."""
    with open_connection(redis_url) as connection:
        yield connection
        immortal = [key.decode() for key in connection.scan_iter() if connection.ttl(key) == -1]
        leaked = [key for key in immortal if not is_permanent(key) or _has_ended(connection, key)]
        connection.flushall()
    assert not leaked, f"keys without TTL that are not declared permanent: {leaked}"


def _has_ended(connection: Redis, key: str) -> bool:
    if not key.startswith("rq:job:"):
        return False
    job = find(connection, key.removeprefix("rq:job:"))
    return job is None or job.has_ended


def runner(
    connection: Redis,
    registry: Registry,
    settings: RunnerSettings = CALM,
    executor: ThreadPoolExecutor | None = None,
) -> JobRunner:
    return JobRunner(
        connection=connection,
        queue=QUEUE,
        registry=registry,
        executor=executor or ThreadPoolExecutor(1),
        settings=settings,
        clock=system_clock,
    )


@asynccontextmanager
async def running(*runners: JobRunner) -> AsyncIterator[None]:
    """Runs runners beside the test and drains them at its end; what they raise fails the test."""
    async with asyncio.TaskGroup() as tasks:
        for one in runners:
            tasks.create_task(one.run())
        try:
            yield
        finally:
            for one in runners:
                one.stop()


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in Redis or in another process
            await asyncio.sleep(0.01)


def record(connection: Redis, job_id: str) -> NamedJob:
    job = find(connection, job_id)
    assert job is not None, f"no job {job_id}"
    return job


def status(connection: Redis, job_id: str) -> JobStatus:
    return record(connection, job_id).get_status(refresh=False)


async def has_status(connection: Redis, job_id: str, wanted: JobStatus) -> None:
    await eventually(lambda: status(connection, job_id) == wanted)


def queued(connection: Redis) -> list[str]:
    return open_queue(connection, QUEUE).job_ids


def trace(connection: Redis, job_id: str) -> str:
    result = record(connection, job_id).latest_result()
    assert result is not None
    return result.exc_string or ""
