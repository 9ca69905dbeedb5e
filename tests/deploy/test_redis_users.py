"""The users of the deployment's Redis can do their work, and nothing else."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis
from redis.exceptions import AuthenticationError, NoPermissionError

from lithify.access import KeyScope
from lithify.compaction import JOB
from lithify.compaction import QUEUE as COMPACTION
from lithify.compactor.triggers import CompactionTrigger
from lithify.events import EVERY_TENANT, system_clock
from lithify.jobs import JobContext, open_connection
from lithify.jobs.overview import read_queues
from lithify.monitoring.figures import PipelineReader
from lithify.operations.metrics import SystemLevels
from lithify.streams import Consumer, DeadLetters, Janitor, keys, open_consumer, probe
from lithify.streams.heartbeat import beat, heartbeat_of
from lithify.telemetry.metrics import REDIS_UP
from lithify.traces import RedisTraces, TraceLimits
from tests.deploy.redis_with_users import PASSWORD, WATCH_PASSWORD, redis_with_users
from tests.integration.jobs_parts import runner
from tests.integration.jobs_parts import running as working
from tests.integration.stream_parts import CALM, eventually, running
from tests.integration.whole_app import whole_app

TURN = {"event_id": "e1", "user": "ada", "session": "s", "role": "user", "text": "I moved to Lisbon."}
PARTITIONS = 4
STORED = [keys.stored(partition) for partition in range(PARTITIONS)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_with_users(tmp_path_factory.mktemp("redis-users")) as where:
        yield where


def connected(place: str, user: str, password: str) -> "redis.Redis":
    return redis.Redis.from_url(f"redis://{user}:{password}@{place}/0")


async def compact(_context: JobContext[None], **_args: object) -> None:
    return None


async def test_the_pipeline_works_as_its_user(place: str, tmp_path: Path) -> None:
    url = f"redis://lithify:{PASSWORD}@{place}/0"
    async with (
        open_consumer(url, CALM.block_ms) as client,
        whole_app(url, tmp_path) as served,
        served.client(await served.key("default", *KeyScope)) as http,
    ):
        assert not (await probe(client)).warnings
        with open_connection(url) as jobs:
            trigger = CompactionTrigger(client, jobs, PARTITIONS, tokens=1, idle=True, clock=system_clock)
            watching = Consumer(client, STORED, "compact", "c-0", trigger.handle, CALM, system_clock)
            async with running(watching):
                assert (await http.post("/v1/turns?wait=searchable", json=TURN)).json()["searchable"]
                await eventually(lambda: watching.tally.handled == 1)
            await beat(client, [heartbeat_of(watching, 1, 2)])
            await Janitor(client, {stream: {"compact"} for stream in STORED}).sweep()
            with ThreadPoolExecutor(1) as threads:
                compacting = runner(jobs, {JOB: compact}, executor=threads)
                async with working(compacting):
                    await eventually(lambda: jobs.zcard(f"rq:finished:{COMPACTION}") == 1)
            assert [queue.queued for queue in await read_queues(jobs, system_clock)] == [0]
            reader = PipelineReader(client, jobs, PARTITIONS, system_clock)
            assert (await SystemLevels(reader).read())[REDIS_UP] == {(): 1}
        assert await DeadLetters(client, PARTITIONS, system_clock).ids(EVERY_TENANT) == []
        assert (await http.get("/v1/receipts/e1")).status_code == 200
        question = {"user": "ada", "session": "s", "query": "Where?", "token_budget": 500}
        assert (await http.post("/v1/assemble", json=question)).json()["degraded"] == []
        assert (await http.delete("/v1/users/ada")).status_code == 202


@pytest.mark.parametrize(
    "command",
    [
        "FLUSHALL",
        "KEYS *",
        "CONFIG SET appendonly no",
        "ACL LIST",
        "SHUTDOWN",
        "MONITOR",
        "SCRIPT FLUSH",
        "GET other",
        "SET other 1",
        "PUBLISH news 1",
    ],
)
def test_the_pipeline_may_not_do_what_it_need_not(place: str, command: str) -> None:
    with connected(place, "lithify", PASSWORD) as client, pytest.raises(NoPermissionError):
        client.execute_command(*command.split())


def test_an_autoscaler_reads_the_lag_and_nothing_else(place: str) -> None:
    with connected(place, "lithify", PASSWORD) as client:
        client.xgroup_create(keys.turns(9), "embed", id="0", mkstream=True)
    with connected(place, "watch", WATCH_PASSWORD) as client:
        assert [group["name"] for group in client.xinfo_groups(keys.turns(9))][-1:] == [b"embed"]
        for command in (("XRANGE", keys.turns(9), "-", "+"), ("XADD", keys.turns(9), "*", "a", "b"), ("KEYS", "*")):
            with pytest.raises(NoPermissionError):
                client.execute_command(*command)


def test_nobody_comes_in_without_a_password(place: str) -> None:
    with redis.Redis.from_url(f"redis://{place}/0") as client, pytest.raises(AuthenticationError):
        client.execute_command("GET", keys.PARTITIONS)
    with connected(place, "lithify", "wrong") as client, pytest.raises(AuthenticationError):
        client.ping()


def test_a_health_check_learns_nothing_else(place: str) -> None:
    with connected(place, "health", "none") as client, pytest.raises(NoPermissionError):
        client.execute_command("INFO")


def test_events_are_kept_on_disk_and_never_evicted(place: str) -> None:
    with connected(place, "lithify", PASSWORD) as client:
        kept = client.config_get("appendonly", "appendfsync", "maxmemory", "maxmemory-policy")
    assert kept == {
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory": str(2**30),
        "maxmemory-policy": "noeviction",
    }


async def test_receipts_of_answers_have_a_server_that_writes_no_file_and_makes_room(tmp_path: Path) -> None:
    with redis_with_users(tmp_path, "traces.conf") as where:
        async with open_consumer(f"redis://lithify:{PASSWORD}@{where}/0", block_ms=0) as client:
            kept = await client.config_get("appendonly", "maxmemory", "maxmemory-policy")
            shelf = RedisTraces(client, TraceLimits(most=1))
            for name in ("first", "second"):
                await shelf.put("acme", name, b"packed")
            assert [page async for page in shelf.pages("acme")] == [{"second": b"packed"}]
    assert kept == {"appendonly": "no", "maxmemory": str(256 * 2**20), "maxmemory-policy": "allkeys-lru"}
