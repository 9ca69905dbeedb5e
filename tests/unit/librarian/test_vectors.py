"""Chunks that are written behind a running pass are embedded by the same job, unless its process has to stop."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from redis import Redis

from lithify.jobs import JobContext
from lithify.librarian import vectors as job
from lithify.librarian.vectors import VectorParts


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, int]]:
    told = [{"embedded": 5, "remaining": 1}, {"embedded": 2, "remaining": 1}, {"embedded": 0, "remaining": 1}]

    async def one_pass(_: JobContext[VectorParts]) -> Any:
        return told.pop(0)

    monkeypatch.setattr(job, "embed_docs", one_pass)
    return told


def context(executor: ThreadPoolExecutor, *, ending: bool = False) -> JobContext[VectorParts]:
    return JobContext("id", "name", 1, cast("VectorParts", None), executor, Redis(), lambda: ending)


async def test_the_job_ends_when_a_pass_finds_nothing_new(passes: list[dict[str, int]]) -> None:
    with ThreadPoolExecutor(1) as executor:
        assert await job.catch_up(context(executor)) == {"embedded": 7, "remaining": 1}
    assert passes == []


async def test_a_process_that_stops_leaves_the_rest_for_later(passes: list[dict[str, int]]) -> None:
    with ThreadPoolExecutor(1) as executor:
        assert await job.catch_up(context(executor, ending=True)) == {"embedded": 5, "remaining": 1}
    assert len(passes) == 2
