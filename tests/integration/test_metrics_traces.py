"""A host can follow its turn: the trace it sends is found in the receipt, in the log, and at the job it caused."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from structlog.testing import capture_logs

from lithify.compaction import JOB
from lithify.compactor.triggers import CompactionTrigger
from lithify.events import system_clock
from lithify.jobs import JobContext, open_connection
from lithify.streams import Consumer, keys
from lithify.streams.groups import COMPACT
from tests.integration.jobs_parts import queued, record, runner
from tests.integration.jobs_parts import running as working
from tests.integration.stream_parts import CALM, eventually, running
from tests.integration.whole_app import whole_app

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
TURN = {"event_id": "e1", "user": "ada", "session": "s", "role": "user", "text": "I moved to Lisbon."}
PARTITIONS = 4


@pytest.fixture
def jobs(redis_url: str) -> Iterator[BlockingRedis]:
    with open_connection(redis_url) as connection:
        yield connection
        # Streams and jobs at once: what the tests of each check for leaks is not looked at here.
        connection.flushall()


async def test_a_trace_is_followed_into_the_embedding_and_the_job_it_causes(
    redis: Redis, redis_url: str, jobs: BlockingRedis, tmp_path: Path
) -> None:
    async def compact(_context: JobContext[None], **_args: object) -> None:
        return None

    trigger = CompactionTrigger(redis, jobs, PARTITIONS, tokens=1, idle=False, clock=system_clock)
    streams = [keys.stored(partition) for partition in range(PARTITIONS)]
    watching = Consumer(redis, streams, COMPACT, "compact-0", trigger.handle, CALM, system_clock)
    with capture_logs() as lines:
        async with whole_app(redis_url, tmp_path) as served, served.client() as http, running(watching):
            sent = await http.post("/v1/turns?wait=searchable", json=TURN, headers={"traceparent": TRACEPARENT})
            assert sent.json()["searchable"]
            receipt = (await http.get("/v1/receipts/e1")).json()
            await eventually(lambda: len(queued(jobs)) == 1)
            assert record(jobs, queued(jobs)[0]).traceparent == TRACEPARENT
            async with working(runner(jobs, {JOB: compact})):
                await eventually(lambda: "job_done" in [line["event"] for line in lines])
    assert receipt["host_trace_id"] == TRACE
    told = {line["event"]: line for line in lines if line.get("trace_id") == TRACE}
    assert told.keys() == {"event_stored", "compaction_asked_for", "job_done"}
    assert told["event_stored"]["event_id"] == "e1"


@pytest.mark.parametrize(
    ("own", "header", "kept"),
    [(TRACEPARENT, TRACEPARENT.replace("4b", "00"), TRACE), (None, "broken", None), (None, None, None)],
)
async def test_a_turns_own_trace_wins_and_a_broken_one_is_ignored(
    redis_url: str, tmp_path: Path, own: str | None, header: str | None, kept: str | None
) -> None:
    headers = {} if header is None else {"traceparent": header}
    async with whole_app(redis_url, tmp_path) as served, served.client() as http:
        body = {"turns": [TURN | {"traceparent": own}]}
        assert (await http.post("/v1/turns:batch", json=body, headers=headers)).json()["accepted"] == 1
        assert (await http.post("/v1/turns?wait=searchable", json=TURN, headers=headers)).json()["searchable"]
        assert (await http.get("/v1/receipts/e1")).json()["host_trace_id"] == kept
