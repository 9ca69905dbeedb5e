"""What operators see: counts where work happens, levels read from Redis, and an answer also without Redis."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.access import KeyScope
from lithify.errors import Invalid
from lithify.events import system_clock
from lithify.http import create_app
from lithify.http.authorization import Access
from lithify.jobs import JobContext, enqueue, open_connection, open_queue
from lithify.monitoring.figures import PipelineReader
from lithify.node.runtime import Workload, answer_probes
from lithify.operations.metrics import SystemLevels, metrics_router
from lithify.operations.probes import STUCK_MS, HealthChecks
from lithify.operations.router import probe_app
from lithify.settings import Settings
from lithify.streams import Delivery, open_consumer
from lithify.telemetry.metrics import REGISTRY
from tests.integration.jobs_parts import QUEUE, runner
from tests.integration.jobs_parts import running as working
from tests.integration.node_process import free_port
from tests.integration.stream_parts import CALM, GROUP, QUICK, Ledger, accept, consumer, eventually, running
from tests.integration.whole_app import gateway_app, whole_app

TURN = {"event_id": "e1", "user": "ada", "session": "s", "role": "user", "text": "I moved to Lisbon."}


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"lithify_{name}", labels) or 0.0


@pytest.fixture
def jobs(redis_url: str) -> Iterator[BlockingRedis]:
    with open_connection(redis_url) as connection:
        yield connection
        # Streams and jobs at once: what the tests of each check for leaks is not looked at here.
        connection.flushall()


async def scrape_lines(system: SystemLevels | None) -> list[str]:
    app = create_app("test", [metrics_router(system, Access.open())], 1024)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as http:
        answer = await http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    return answer.text.splitlines()


async def test_consumers_count_what_becomes_of_messages(redis: Redis) -> None:
    def judge(delivery: Delivery) -> None:
        if delivery.event.event_id == "bad":
            raise Invalid("never")
        if delivery.event.event_id == "late" and delivery.attempt == 1:
            raise RuntimeError("not yet")

    outcomes = {outcome: value("messages_total", stage=GROUP, outcome=outcome) for outcome in ("handled", "failed")}
    dead, again = value("messages_total", stage=GROUP, outcome="dead"), value("redeliveries_total", stage=GROUP)
    calls = value("message_duration_seconds_count", stage=GROUP)
    await accept(redis, "good", "bad", "late")
    worker = consumer(redis, Ledger(judge), QUICK)
    async with running(worker):
        await eventually(lambda: worker.tally.handled == 2)
    assert value("messages_total", stage=GROUP, outcome="handled") == outcomes["handled"] + 2
    assert value("messages_total", stage=GROUP, outcome="failed") == outcomes["failed"] + 1
    assert value("messages_total", stage=GROUP, outcome="dead") == dead + 1
    assert value("redeliveries_total", stage=GROUP) == again + worker.tally.redelivered
    # Once together, by halves once alone and once as two, these each alone, and the late one again.
    assert value("message_duration_seconds_count", stage=GROUP) == calls + 6


async def test_the_gateway_counts_turns_by_result(redis_url: str) -> None:
    results = ("accepted", "duplicate", "conflict", "invalid")
    before = {result: value("events_accepted_total", result=result) for result in results}
    async with gateway_app(redis_url) as served, served.client() as http:
        await http.post("/v1/turns", json=TURN)
        await http.post("/v1/turns", json=TURN | {"text": "Other words."})
        turns = [TURN, TURN | {"event_id": "e2"}, TURN | {"text": "Others."}, {"event_id": "e3"}]
        await http.post("/v1/turns:batch", json={"turns": turns})
    after = {result: value("events_accepted_total", result=result) for result in results}
    assert {result: after[result] - before[result] for result in results} == {
        "accepted": 2,
        "duplicate": 1,
        "conflict": 2,
        "invalid": 1,
    }


async def test_waiting_and_assembling_are_timed(redis_url: str, tmp_path: Path) -> None:
    phases = ("read", "compose", "note", "total")
    before = {phase: value("assemble_duration_seconds_count", phase=phase) for phase in phases}
    stored, prompts = value("accept_to_searchable_seconds_count"), value("assemble_tokens_count")
    async with whole_app(redis_url, tmp_path) as served, served.client() as http:
        assert (await http.post("/v1/turns?wait=searchable", json=TURN)).json()["searchable"]
        question = {"user": "ada", "session": "s", "query": "Where?", "token_budget": 500}
        assert (await http.post("/v1/assemble", json=question)).status_code == 200
    assert {phase: value("assemble_duration_seconds_count", phase=phase) - before[phase] for phase in phases} == (
        dict.fromkeys(phases, 1.0)
    )
    assert value("assemble_tokens_count") == prompts + 1
    assert value("accept_to_searchable_seconds_count") == stored + 1


async def test_jobs_are_timed_by_name_and_foreign_names_make_no_label(jobs: BlockingRedis) -> None:
    async def greet(_context: JobContext[None]) -> None:
        return None

    def counts() -> tuple[float, float]:
        done = value("job_duration_seconds_count", queue=QUEUE, job="greet", outcome="done")
        return done, value("job_duration_seconds_count", queue=QUEUE, job="unknown", outcome="failed")

    before = counts()
    queue = open_queue(jobs, QUEUE)
    await enqueue(queue, "greet", {}, unique_id="a")
    await enqueue(queue, "stranger", {}, unique_id="b")
    async with working(runner(jobs, {"greet": greet})):
        await eventually(lambda: counts() == (before[0] + 1, before[1] + 1))


async def test_levels_are_read_when_asked(redis: Redis, jobs: BlockingRedis) -> None:
    await consumer(redis, Ledger(), CALM)._member.join()
    await accept(redis, "e1", "e2", "e3")
    await redis.xreadgroup(GROUP, "someone", {"lithify:turns:{0}": ">"}, count=1)
    await enqueue(open_queue(jobs, QUEUE), "greet", {}, unique_id="a")
    lines = await scrape_lines(SystemLevels(PipelineReader(redis, jobs, 1, system_clock)))
    assert "lithify_redis_up 1.0" in lines
    assert f'lithify_stream_unread{{group="{GROUP}",stream="turns"}} 2.0' in lines
    assert f'lithify_stream_pending{{group="{GROUP}",stream="turns"}} 1.0' in lines
    assert "lithify_dead_letters 0.0" in lines
    assert f'lithify_jobs{{queue="{QUEUE}",status="queued"}} 1.0' in lines


async def test_partitions_of_a_stream_are_told_together(redis: Redis, jobs: BlockingRedis) -> None:
    for partition in (0, 1):
        await redis.xadd(f"lithify:turns:{{{partition}}}", {"event": "{}"}, id=f"{1 + partition}-0")
        await redis.xgroup_create(f"lithify:turns:{{{partition}}}", GROUP, id="0")
    lines = await scrape_lines(SystemLevels(PipelineReader(redis, jobs, 2, system_clock)))
    assert f'lithify_stream_unread{{group="{GROUP}",stream="turns"}} 2.0' in lines
    ages = [line for line in lines if line.startswith("lithify_stream_oldest_unread_age_seconds{")]
    # The entries say that they are from 1970.
    assert len(ages) == 1
    assert float(ages[0].split()[1]) > 1e9


async def test_without_redis_the_rest_is_told(tmp_path: Path) -> None:
    nowhere = f"unix://{tmp_path}/no.sock"
    async with open_consumer(nowhere, block_ms=0) as nobody:
        with open_connection(nowhere) as jobs:
            lines = await scrape_lines(SystemLevels(PipelineReader(nobody, jobs, 1, system_clock)))
    assert "lithify_redis_up 0.0" in lines
    assert not [line for line in lines if line.startswith("lithify_stream_unread{")]
    assert [line for line in lines if line.startswith("lithify_build_info{")]


async def test_a_redis_that_hangs_holds_nothing_up(redis: Redis, jobs: BlockingRedis) -> None:
    hurried = SystemLevels(PipelineReader(redis, jobs, 1, system_clock), patience_s=0.0)
    assert "lithify_redis_up 0.0" in await scrape_lines(hurried)


async def test_processes_without_system_levels_tell_their_own_counts_only() -> None:
    lines = await scrape_lines(None)
    assert not [line for line in lines if line.startswith("lithify_redis_up")]
    assert [line for line in lines if line.startswith("process_resident_memory_bytes")]


async def test_on_the_service_port_metrics_need_the_operator_once_there_are_keys(redis_url: str) -> None:
    async with gateway_app(redis_url) as served:
        app = create_app("test", [metrics_router(None, Access(served.authenticator))], 1024)
        reader, admin = await served.key("default", KeyScope.READ), await served.key("acme", KeyScope.ADMIN)
        operator = await served.key("default", KeyScope.ADMIN)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as http:
            answers = [
                (await http.get("/metrics", headers={"Authorization": f"Bearer {key}"})).status_code
                for key in (reader, admin, operator)
            ]
            assert [(await http.get("/metrics")).status_code, *answers] == [401, 403, 403, 200]


async def test_a_loop_that_hangs_fails_its_liveness_probe(redis: Redis) -> None:
    worker = consumer(redis, Ledger(), CALM)
    checks = HealthChecks(redis, loops=[worker])
    for silence_ms, status in ((0, 200), (STUCK_MS + 1_000, 503)):
        now = worker.ticked_at + silence_ms
        app = probe_app(checks, None, lambda now=now: now, 1024)  # type: ignore[misc]  # binds the loop's value
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as http:
            assert (await http.get("/livez")).status_code == status


async def test_every_process_answers_on_its_port_until_it_has_drained(redis: Redis) -> None:
    settings = Settings(metrics_port=free_port())
    worker, drained = consumer(redis, Ledger(), CALM), asyncio.Event()
    workload = Workload(HealthChecks(redis, loops=[worker]))
    answering = asyncio.create_task(answer_probes(settings, workload, drained))
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{settings.metrics_port}") as http:
        async with running(worker):
            await eventually(lambda: worker.ready)
            for path in ("/readyz", "/livez", "/metrics"):
                assert (await reached(http, path)).status_code == 200
            foreign = {"Host": "evil.example"}
            assert (await http.get("/metrics", headers=foreign)).status_code == 403
            assert (await http.get("/livez", headers=foreign)).status_code == 200
        assert (await http.get("/readyz")).status_code == 503
    drained.set()
    await answering


async def reached(http: httpx.AsyncClient, path: str) -> httpx.Response:
    async with asyncio.timeout(20):
        while True:
            try:
                return await http.get(path)
            except httpx.ConnectError:
                await asyncio.sleep(0.01)
