"""What starts a compaction: enough tokens, silence, or a request; and that one session has one job at a time."""

from collections.abc import Iterator

import pytest
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from rq.job import JobStatus

from lithify.compaction import JOB, Cause, SessionKey, read_compaction, request_compaction
from lithify.compactor.session import SessionStates
from lithify.compactor.triggers import IDLE_JOB, CompactionTrigger, IdleSearch, compact_idle
from lithify.errors import Invalid
from lithify.events import Event, encode_event
from lithify.jobs import JobContext
from lithify.streams import Consumer, Delivery, keys, publish_stored
from lithify.streams.delivery import StreamEntry
from lithify.streams.groups import COMPACT
from tests.compaction_parts import KEY, NOW, chat
from tests.integration.jobs_parts import has_status as job_has_status
from tests.integration.jobs_parts import opened, queued, record, runner, running
from tests.integration.stream_parts import CALM, eventually
from tests.integration.stream_parts import running as consuming

PARTITIONS = 2
OTHER = SessionKey("acme", "bob", "s1")


@pytest.fixture
def jobs(redis_url: str) -> Iterator[BlockingRedis]:
    with opened(redis_url) as connection:
        yield connection


def delivered(*events: Event) -> list[Delivery]:
    return [Delivery(StreamEntry(keys.turns(0), "1-0", {}, 1), event) for event in events]


def trigger(
    redis: Redis, jobs: BlockingRedis, tokens: int = 100, idle: bool = True, now: int = NOW
) -> CompactionTrigger:
    return CompactionTrigger(redis, jobs, PARTITIONS, tokens, idle, lambda: now)


def asked(jobs: BlockingRedis) -> list[tuple[str, str]]:
    calls = [record(jobs, job_id).call.args for job_id in queued(jobs)]
    return [(str(args["user"]), str(args["trigger"])) for args in calls]


async def find_idle(redis: Redis, jobs: BlockingRedis, now: int) -> object:
    search = IdleSearch(redis, PARTITIONS, 60_000, lambda: now)
    return await compact_idle(JobContext("job", IDLE_JOB, 1, search, None, jobs))  # type: ignore[arg-type]  # no executor used


async def test_job_is_asked_for_when_a_session_has_said_enough(redis: Redis, jobs: BlockingRedis) -> None:
    [first, second, third, fourth] = chat(4)
    watching = trigger(redis, jobs, tokens=104)
    await watching.handle(delivered(first, second))
    await watching.handle(delivered(third))
    assert asked(jobs) == []
    await watching.handle(delivered(fourth))
    assert asked(jobs) == [("ada", "tokens")]


async def test_tokens_of_two_users_sessions_of_one_name_are_counted_apart(redis: Redis, jobs: BlockingRedis) -> None:
    await trigger(redis, jobs, tokens=70).handle(delivered(*chat(2), *chat(3, key=OTHER)))
    assert asked(jobs) == [("bob", "tokens")]


async def test_session_has_one_job_at_a_time(redis: Redis, jobs: BlockingRedis) -> None:
    watching = trigger(redis, jobs, tokens=20)
    for _ in range(3):
        await watching.handle(delivered(*chat(4)))
    assert len(queued(jobs)) == 1
    assert not (await request_compaction(jobs, KEY, Cause.FORCE)).is_new
    assert (await request_compaction(jobs, OTHER, Cause.FORCE)).is_new


async def test_zero_tokens_switch_the_trigger_off(redis: Redis, jobs: BlockingRedis) -> None:
    await trigger(redis, jobs, tokens=0).handle(delivered(*chat(40)))
    assert asked(jobs) == []
    assert (await SessionStates(redis, PARTITIONS).read(KEY)).tokens == 0


async def test_silent_sessions_are_compacted_once_for_each_silence(redis: Redis, jobs: BlockingRedis) -> None:
    await trigger(redis, jobs, tokens=0).handle(delivered(*chat(2)))
    await trigger(redis, jobs, tokens=0, now=NOW + 50_000).handle(delivered(*chat(2, key=OTHER)))
    assert await find_idle(redis, jobs, NOW + 59_999) == {"asked": 0}
    assert await find_idle(redis, jobs, NOW + 60_000) == {"asked": 1}
    assert asked(jobs) == [("ada", "idle")]
    assert await find_idle(redis, jobs, NOW + 60_000) == {"asked": 0}
    assert await find_idle(redis, jobs, NOW + 110_000) == {"asked": 1}


async def test_session_that_speaks_again_is_silent_from_then_on(redis: Redis, jobs: BlockingRedis) -> None:
    await trigger(redis, jobs, tokens=0).handle(delivered(*chat(2)))
    await trigger(redis, jobs, tokens=0, now=NOW + 30_000).handle(delivered(*chat(2)))
    assert await find_idle(redis, jobs, NOW + 60_000) == {"asked": 0}
    assert await find_idle(redis, jobs, NOW + 90_000) == {"asked": 1}


async def test_nobody_is_remembered_when_nobody_looks_for_silence(redis: Redis, jobs: BlockingRedis) -> None:
    await trigger(redis, jobs, tokens=100, idle=False).handle(delivered(*chat(2)))
    assert await find_idle(redis, jobs, 10**13) == {"asked": 0}


async def test_stored_events_reach_the_trigger_through_their_stream(redis: Redis, jobs: BlockingRedis) -> None:
    entries = [StreamEntry(keys.turns(0), "1-0", {b"event": encode_event(event)}, 1) for event in chat(4)]
    await publish_stored(redis, [Delivery(entry, event) for entry, event in zip(entries, chat(4), strict=True)])
    watching = trigger(redis, jobs, tokens=20)
    consumer = Consumer(redis, [keys.stored(0)], COMPACT, "c-0", watching.handle, CALM, lambda: NOW)
    async with consuming(consumer):
        await eventually(lambda: consumer.tally.handled == 4)
    assert asked(jobs) == [("ada", "tokens")]
    await redis.delete(keys.stored(0))  # permanent, but no key of jobs


async def test_state_of_a_compaction_can_be_watched(jobs: BlockingRedis) -> None:
    assert await read_compaction(jobs, KEY) is None
    ticket = await request_compaction(jobs, KEY, Cause.REQUEST)
    waiting = await read_compaction(jobs, KEY)
    assert waiting is not None
    assert (waiting.job_id, waiting.status, waiting.result) == (ticket.job_id, "queued", None)

    async def done(context: JobContext[None], **args: str) -> dict[str, bool]:
        return {"did_compact": True}

    async with running(runner(jobs, {JOB: done})):
        await job_has_status(jobs, ticket.job_id, JobStatus.FINISHED)
    finished = await read_compaction(jobs, KEY)
    assert finished is not None
    assert (finished.status, finished.result, finished.error) == ("finished", {"did_compact": True}, None)


async def test_compaction_that_failed_says_why(jobs: BlockingRedis) -> None:
    async def refuse(context: JobContext[None], **args: str) -> None:
        raise Invalid("trigger: no such thing")

    ticket = await request_compaction(jobs, KEY, Cause.REQUEST)
    async with running(runner(jobs, {JOB: refuse})):
        await job_has_status(jobs, ticket.job_id, JobStatus.FAILED)
    failed = await read_compaction(jobs, KEY)
    assert failed is not None
    assert (failed.status, failed.error) == ("failed", "lithify.errors.Invalid: trigger: no such thing")
