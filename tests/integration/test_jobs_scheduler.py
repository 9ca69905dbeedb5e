"""Periodic jobs: one per period, whatever happens to the schedulers."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import time

import pytest
from redis import Redis
from rq.job import JobStatus

from lithify.jobs import JobContext, Policy, Schedule, Scheduler, daily, open_connection
from lithify.jobs.keys import SCHEDULER
from lithify.node.redis_server import EmbeddedRedis
from tests.integration.jobs_parts import QUEUE, eventually, has_status, opened, queued, record, runner, running

MINUTE = 60_000
NOON = 1_700_049_600_000  # 2023-11-15 12:00 UTC
SWEEP = Schedule("sweep", QUEUE, "sweep", 10 * MINUTE, args={"deep": True})


@pytest.fixture
def jobs(redis_url: str) -> Iterator[Redis]:
    with opened(redis_url) as connection:
        yield connection


class Hands:
    """A clock whose hands the test moves."""

    def __init__(self, now_ms: int = NOON) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


async def sweep(context: JobContext[None], deep: bool = False) -> None:
    """Always succeeds."""


async def run_all(connection: Redis, job_ids: list[str]) -> None:
    async with running(runner(connection, {"sweep": sweep})):
        for job_id in job_ids:
            await has_status(connection, job_id, JobStatus.FINISHED)


async def test_a_period_is_started_once_and_the_next_one_too(jobs: Redis) -> None:
    hands = Hands()
    scheduler = Scheduler(jobs, [SWEEP], hands)
    first = await scheduler.tick()
    await run_all(jobs, first)
    hands.now_ms += 9 * MINUTE
    assert await scheduler.tick() == []
    hands.now_ms += MINUTE
    second = await scheduler.tick()
    assert len(first) == len(second) == 1
    assert queued(jobs) == second
    assert record(jobs, second[0]).call.args == {"deep": True}


async def test_one_of_many_schedulers_is_active(jobs: Redis) -> None:
    schedulers = [Scheduler(jobs, [SWEEP], Hands()) for _ in range(5)]
    started = await asyncio.gather(*(scheduler.tick() for scheduler in schedulers))
    assert sum(scheduler.active for scheduler in schedulers) == 1
    assert len([job_id for ids in started for job_id in ids]) == 1
    again = await asyncio.gather(*(scheduler.tick() for scheduler in schedulers))
    assert not any(again)


async def test_another_scheduler_takes_over_where_the_first_one_ended(jobs: Redis) -> None:
    hands = Hands()
    first, second = Scheduler(jobs, [SWEEP], hands), Scheduler(jobs, [SWEEP], hands)
    await run_all(jobs, await first.tick())
    assert 0 < jobs.ttl(SCHEDULER) <= 30
    jobs.delete(SCHEDULER)  # the lease has run out
    assert await second.tick() == []
    assert second.active
    hands.now_ms += 10 * MINUTE
    assert await first.tick() == []
    assert not first.active
    assert len(await second.tick()) == 1


async def test_a_scheduler_that_lost_its_lock_without_knowing_starts_nothing_twice(jobs: Redis) -> None:
    first, second = Scheduler(jobs, [SWEEP], Hands()), Scheduler(jobs, [SWEEP], Hands())
    started = await first.tick()
    await run_all(jobs, started)
    # As if the second had read the table before the first wrote to it: no lock, no last period.
    jobs.delete(SCHEDULER, "lithify:jobs:period:sweep")
    assert await second.tick() == []
    assert queued(jobs) == []
    assert record(jobs, started[0]).get_status(refresh=False) == JobStatus.FINISHED


async def test_periods_missed_while_down_collapse_into_one_run(jobs: Redis) -> None:
    hands = Hands()
    await run_all(jobs, await Scheduler(jobs, [SWEEP], hands).tick())
    jobs.delete(SCHEDULER)
    hands.now_ms += 7 * 24 * 60 * MINUTE
    restarted = Scheduler(jobs, [SWEEP], hands)
    assert len(await restarted.tick()) == 1
    assert await restarted.tick() == []
    assert len(queued(jobs)) == 1


async def test_runs_do_not_pile_up_while_no_runner_is_there(jobs: Redis) -> None:
    hands = Hands()
    scheduler = Scheduler(jobs, [SWEEP], hands)
    first = await scheduler.tick()
    for _ in range(3):
        hands.now_ms += 10 * MINUTE
        assert await scheduler.tick() == []
    assert queued(jobs) == first
    await run_all(jobs, first)
    assert len(await scheduler.tick()) == 1, "the present period had no run of its own yet"


async def test_a_failed_run_does_not_stop_the_next_period(jobs: Redis) -> None:
    hands = Hands()
    scheduler = Scheduler(jobs, [Schedule("odd", QUEUE, "unknown", 10 * MINUTE)], hands)
    [job_id] = await scheduler.tick()
    async with running(runner(jobs, {})):
        await has_status(jobs, job_id, JobStatus.FAILED)
    assert await scheduler.tick() == []
    hands.now_ms += 10 * MINUTE
    assert len(await scheduler.tick()) == 1


async def test_the_record_of_a_period_outlives_the_period(jobs: Redis) -> None:
    weekly = Schedule("weekly", QUEUE, "sweep", 7 * 24 * 60 * MINUTE, policy=Policy(result_ttl_s=60))
    [job_id] = await Scheduler(jobs, [weekly], Hands()).tick()
    await run_all(jobs, [job_id])
    assert int(jobs.pttl(f"rq:job:{job_id}")) > weekly.every_ms


async def test_a_daily_job_runs_at_its_time_of_day(jobs: Redis) -> None:
    hands = Hands(NOON)
    scheduler = Scheduler(jobs, [daily("night", QUEUE, "sweep", time(3, 15))], hands)
    await run_all(jobs, await scheduler.tick())
    hands.now_ms = NOON + 15 * 60 * MINUTE + 14 * MINUTE
    assert await scheduler.tick() == []
    hands.now_ms += MINUTE
    assert len(await scheduler.tick()) == 1


async def test_a_running_scheduler_gives_its_lock_back_when_stopped(jobs: Redis) -> None:
    scheduler = Scheduler(jobs, [SWEEP], Hands())
    task = asyncio.create_task(scheduler.run())
    await eventually(lambda: bool(queued(jobs)))
    scheduler.stop()
    await task
    assert not jobs.exists(SCHEDULER)


async def test_an_outage_does_not_end_the_scheduler(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(EmbeddedRedis(tmp_path_factory.mktemp("schedules")))
        connection = stack.enter_context(open_connection(server.url))
        await server.stop()
        scheduler = Scheduler(connection, [SWEEP], Hands())
        task = asyncio.create_task(scheduler.run())
        await eventually(lambda: scheduler.outage is not None)
        await server.start()
        await eventually(lambda: bool(queued(connection)))
        scheduler.stop()
        await task
