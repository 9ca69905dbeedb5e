"""One test per window in which a compaction may die: every fact stays in reach, and the job is run to its end."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from rq.job import JobStatus

from lithify.compaction import JOB, QUEUE, Cause
from lithify.events import EVERY_TENANT
from lithify.jobs import enqueue, open_queue
from lithify.store import CollectionSpec, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams.crash import EXIT_CODE
from tests.compaction_parts import KEY, RULE, Bench, bench_on, chat, say
from tests.integration.compaction_process import EMBEDDER, compaction_runner, open_store
from tests.integration.jobs_parts import ONE_RETRY, has_status, opened, record, running

WINDOWS: Final = (
    "compact_after_shards",
    "compact_after_summary",
    "compact_after_state",
    "compact_after_receipts",
    "compact_after_retire",
    "compact_before_settle",
)
TURNS: Final = 24
DIES_WITHIN_S: Final = 60.0


@pytest.fixture(params=["edge", pytest.param("server", marks=pytest.mark.server)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path) if request.param == "edge" else str(request.getfixturevalue("server_url"))


@pytest.fixture
def jobs(redis_url: str) -> Iterator[BlockingRedis]:
    with opened(redis_url) as connection:
        yield connection


@asynccontextmanager
async def looking_into(place: str, redis: Redis, redis_url: str) -> AsyncIterator[Bench]:
    async with open_store(place) as store:
        with bench_on(store, redis, redis_url, EMBEDDER) as bench:
            yield bench


async def tell_everything(bench: Bench) -> None:
    await bench.store.ensure(CollectionSpec(COLLECTION, (8, 16, 32), EMBEDDER.fingerprint))
    await bench.store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    events = chat(TURNS)
    events[4] = say(4, RULE)
    await bench.tell(events)


async def ask_for_compaction(jobs: BlockingRedis) -> str:
    args = {"tenant": KEY.tenant, "user": KEY.user, "session": KEY.session, "trigger": Cause.FORCE.value}
    ticket = await enqueue(open_queue(jobs, QUEUE), JOB, args, unique_id=KEY.name, policy=ONE_RETRY)
    return ticket.job_id


async def die_at(window: str, redis_url: str, place: str) -> None:
    command = (sys.executable, "-m", "tests.integration.compaction_process", redis_url, place, window)
    async with asyncio.timeout(DIES_WITHIN_S):
        process = await asyncio.create_subprocess_exec(*command)
        assert await process.wait() == EXIT_CODE


@pytest.mark.parametrize("window", WINDOWS)
async def test_compaction_that_dies_loses_no_fact_and_is_finished_without_a_second_summary(
    window: str, place: str, redis: Redis, redis_url: str, jobs: BlockingRedis
) -> None:
    async with looking_into(place, redis, redis_url) as bench:
        await tell_everything(bench)
    job_id = await ask_for_compaction(jobs)
    await die_at(window, redis_url, place)
    everyone = {f"s1-{number:03}" for number in range(TURNS)}
    async with looking_into(place, redis, redis_url) as bench:
        assert {*await bench.active_turns(), *await bench.covered()} == everyone

        with compaction_runner(jobs, redis, bench.store) as runner:
            async with running(runner):
                await has_status(jobs, job_id, JobStatus.FINISHED)
        assert record(jobs, job_id).attempt == 2
        covered = await bench.covered()
        assert covered == [f"s1-{number:03}" for number in range(20)]
        assert await bench.active_turns() == [f"s1-{number:03}" for number in range(20, TURNS)]
        assert {turn.text for turn in await bench.memories("turn")} >= {RULE, chat(TURNS)[7].text}
        assert [shard.text for shard in await bench.memories("guidance")] == [RULE]
        assert len(await bench.records("summary")) == 2
        assert (await bench.parts().states.read(KEY)).tokens == 0
