"""Jobs one by one: by code, by HTTP and from the terminal, and each only for those it concerns."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import JsonValue
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from rq.job import JobStatus
from typer.testing import CliRunner

from lithify.cli import queue as commands
from lithify.client import Memory
from lithify.errors import Invalid
from lithify.events import EVERY_TENANT, TenantScope, system_clock
from lithify.http import create_app
from lithify.http.authorization import Access
from lithify.jobs import JobContext, enqueue, list_jobs, open_queue, show_job
from lithify.monitoring.figures import PipelineReader
from lithify.monitoring.jobs import BackgroundJobs
from lithify.monitoring.pulse import Pulse
from lithify.operations.job_routes import job_router
from tests.integration.jobs_parts import QUEUE, has_status, opened, queued, runner, running

ACME, GLOBEX = TenantScope("acme"), TenantScope("globex")
OPERATOR = TenantScope("default")


@pytest.fixture
def jobs(redis_url: str) -> Iterator[Redis]:
    with opened(redis_url) as connection:
        yield connection


async def put(jobs: Redis, unique_id: str, **args: JsonValue) -> str:
    return (await enqueue(open_queue(jobs, QUEUE), "spoil", args, unique_id=unique_id)).job_id


async def spoil(context: JobContext[None], **_: JsonValue) -> None:
    raise Invalid("spoilt")


async def put_failed(jobs: Redis, unique_id: str, **args: JsonValue) -> str:
    job_id = await put(jobs, unique_id, **args)
    async with running(runner(jobs, {"spoil": spoil})):
        await has_status(jobs, job_id, JobStatus.FAILED)
    return job_id


async def test_a_tenant_sees_its_own_jobs_and_the_default_one_those_that_name_no_tenant(jobs: Redis) -> None:
    own, common, foreign = [
        await put(jobs, name, **args)
        for name, args in (("a", {"tenant": "acme"}), ("b", {}), ("c", {"tenant": "globex"}))
    ]
    seen = await list_jobs(jobs, ACME, QUEUE, "queued", 10)
    assert [job.job_id for job in seen] == [own]
    assert await show_job(jobs, ACME, common) is None
    assert [job.job_id for job in await list_jobs(jobs, OPERATOR, QUEUE, "queued", 10)] == [common]
    assert len(await list_jobs(jobs, EVERY_TENANT, QUEUE, "queued", 10)) == 3
    assert await show_job(jobs, ACME, foreign) is None
    assert await show_job(jobs, GLOBEX, foreign) is not None


async def test_a_failed_job_tells_its_reason_and_its_whole_trace(jobs: Redis) -> None:
    job_id = await put_failed(jobs, "a", user="ada")
    [job] = await list_jobs(jobs, EVERY_TENANT, QUEUE, "failed", 10)
    assert (job.job_id, job.name, job.status, job.args) == (job_id, "spoil", "failed", {"user": "ada"})
    assert "spoilt" in (job.reason or "")
    detail = await show_job(jobs, EVERY_TENANT, job_id)
    assert detail is not None
    assert (detail.trace or "").startswith("Traceback")


async def test_limit_and_offset_count_what_is_in_view(jobs: Redis) -> None:
    ids = [await put(jobs, str(place), tenant="acme" if place % 2 else "globex") for place in range(6)]
    seen = await list_jobs(jobs, ACME, QUEUE, "queued", 2, offset=1)
    assert [job.job_id for job in seen] == [ids[3], ids[5]]


async def test_an_id_that_no_job_can_have_is_a_job_that_is_not_there(jobs: Redis) -> None:
    for strange in ("a b", "a:b", "漢", "\x00", "x" * 300):
        assert await show_job(jobs, EVERY_TENANT, strange) is None


async def test_an_unknown_state_is_refused_with_those_there_are(jobs: Redis) -> None:
    with pytest.raises(Invalid, match="failed, finished"):
        await list_jobs(jobs, EVERY_TENANT, QUEUE, "lost", 10)


def terminal(http: TestClient, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    def request_json(_: Memory, method: str, path: str, body: Any = None, params: Any = None) -> Any:
        wanted = {name: value for name, value in (params or {}).items() if value is not None}
        answer = http.request(method, path, json=body, params=wanted)
        assert answer.is_success, answer.text
        return answer.json()

    monkeypatch.setattr(Memory, "request_json", request_json)
    result = CliRunner().invoke(commands.app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


async def test_the_terminal_lists_shows_and_retries(
    jobs: Redis, redis: AsyncRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await put_failed(jobs, "a", user="ada")
    background = BackgroundJobs(Pulse(PipelineReader(redis, jobs, 1, system_clock)), jobs)
    app = create_app("test", [job_router(background, Access.open())], 10_000)
    http = TestClient(app)
    assert job_id in terminal(http, monkeypatch, "list", "--queue", QUEUE)
    assert "Traceback" in terminal(http, monkeypatch, "show", job_id)
    assert "queued again" in terminal(http, monkeypatch, "retry", job_id)
    assert queued(jobs) == [job_id]
