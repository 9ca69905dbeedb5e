"""The dashboard's pages on the whole application: what they show is true, and what they do is done."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

import httpx
import orjson
import pytest_asyncio
from fastapi import APIRouter
from redis.asyncio import Redis
from rq.job import JobStatus

from lithify.access import KeyScope
from lithify.dashboard.pages import CONTENT_POLICY, NAVIGATION
from lithify.errors import Invalid
from lithify.events import Event, encode_event
from lithify.jobs import JobContext, enqueue, open_connection, open_queue
from lithify.node import services
from lithify.node.parts import RedisParts, open_redis
from lithify.operations.probes import HealthChecks
from lithify.settings import Settings
from lithify.streams import keys
from tests.integration.dashboard_parts import Browser
from tests.integration.jobs_parts import QUEUE, has_status, runner, running
from tests.integration.node_process import free_port
from tests.integration.whole_app import ServedApp, served_app, whole_app

HOSTILE = '<script>alert("zebra")</script>'


@pytest_asyncio.fixture
async def app(redis_url: str, tmp_path: Path) -> AsyncIterator[ServedApp]:
    async with whole_app(redis_url, tmp_path) as served:
        yield served


@pytest_asyncio.fixture
async def browser(app: ServedApp) -> AsyncIterator[Browser]:
    async with Browser(app) as browser:
        yield browser


async def say(app: ServedApp, event_id: str, text: str, session: str = "s1") -> None:
    turn = {"event_id": event_id, "user": "ada", "session": session, "role": "user", "text": text}
    async with app.client() as http:
        answer = await http.post("/v1/turns", params={"wait": "searchable"}, json=turn)
        assert answer.json()["searchable"], answer.text


async def bury(redis: Redis, event_id: str, text: str = "hello") -> str:
    event = Event(event_id, "default", "ada", "s1", "user", text, ts=1)
    fields = {"event": encode_event(event), "seq": 1, "dead_stream": keys.turns(0), "dead_group": "embed"}
    marks = {"dead_id": "5-0", "dead_reason": f"bad {event_id}"}
    entry = cast("bytes", await redis.xadd(keys.dead(0), fields | marks))  # type: ignore[arg-type]  # several types
    return f"0-{entry.decode()}"


async def test_every_page_opens_on_an_empty_node_and_forbids_foreign_content(browser: Browser) -> None:
    for path, _ in NAVIGATION:
        answer = await browser.http.get(f"/dashboard{path}")
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-security-policy"] == CONTENT_POLICY
        assert answer.headers["cache-control"] == "no-store"
        assert "style=" not in answer.text, path
        assert "<script>" not in answer.text, path


async def test_the_overview_shows_what_was_accepted_and_each_stage(app: ServedApp, browser: Browser) -> None:
    await say(app, "e1", "The zebra moved to Lisbon.")
    page = await browser.see()
    assert "Embedding" in page
    assert "● clear" in page
    async with app.client() as http:
        told = (await http.get("/v1/overview")).json()
    [embed] = [stage for stage in told["stages"] if stage["group"] == "embed"]
    assert (embed["state"], embed["unread"], embed["oldest_unread_ms"]) == ("clear", 0, 0)


async def test_streams_are_shown_with_their_consumers(app: ServedApp, browser: Browser) -> None:
    await say(app, "e1", "The zebra moved to Lisbon.")
    async with app.client() as http:
        streams = (await http.get("/v1/streams")).json()
    [used] = [stream for stream in streams if stream["added"] and "turns" in stream["stream"]]
    [group] = used["groups"]
    assert (group["group"], group["unread"], group["pending"]) == ("embed", 0, 0)
    page = await browser.see("/streams")
    assert used["stream"] in page
    assert all(consumer["name"] in page for consumer in group["consumers"])


async def test_a_search_shows_hits_with_the_components_of_their_score(app: ServedApp, browser: Browser) -> None:
    await say(app, "e1", "The zebra moved to Lisbon.")
    page = await browser.see("/memory", query="zebra Lisbon", user="ada")
    assert "The zebra moved to Lisbon." in page
    assert "lexical" in page
    assert "dense" in page


async def test_what_a_turn_says_is_never_markup(app: ServedApp, browser: Browser) -> None:
    await say(app, "e1", HOSTILE)
    paths = ("/memory?query=zebra&user=ada", "/sessions?user=ada&session=s1", "/playground?user=ada&session=s1")
    letter = await bury(app.redis, "e2", HOSTILE)
    for path in (*paths, f"/dead-letters/{letter}"):
        answer = await browser.http.get(f"/dashboard{path}")
        assert HOSTILE not in answer.text, path
        assert "alert(" in answer.text, path


async def test_a_session_shows_its_turns_and_their_state(app: ServedApp, browser: Browser) -> None:
    await say(app, "e1", "The zebra moved to Lisbon.")
    page = await browser.see("/sessions", user="ada", session="s1")
    assert "The zebra moved to Lisbon." in page
    assert "tail" in page
    assert "s1" in await browser.see("/sessions", user="ada")


async def test_the_playground_shows_the_prompt_its_budget_and_why(app: ServedApp, browser: Browser) -> None:
    await say(app, "e1", "The zebra moved to Lisbon.")
    page = await browser.see("/playground", query="zebra Lisbon", user="ada", session="s2", budget=500)
    assert "<recalled_memories>" in page
    assert "of 500 tokens" in page
    assert "in the prompt" in page


async def test_a_slip_in_a_form_is_told_beside_it(browser: Browser) -> None:
    page = await browser.see("/playground", user="ada", session="s", budget="much")
    assert "token_budget" in page
    assert 'role="alert"' in page


async def test_a_chosen_dead_letter_is_redriven_and_the_others_stay(app: ServedApp, browser: Browser) -> None:
    chosen, other = await bury(app.redis, "e1", "The zebra moved to Lisbon."), await bury(app.redis, "e2")
    page = await browser.see("/dead-letters")
    assert "bad e1" in page
    answer = await browser.send("/dead-letters:redrive", page, letter=[chosen])
    assert "1 put back onto their streams." in answer.text
    assert chosen not in answer.text
    assert other in answer.text


async def test_purging_all_leaves_none(app: ServedApp, browser: Browser) -> None:
    for event_id in ("e1", "e2"):
        await bury(app.redis, event_id)
    answer = await browser.send("/dead-letters:purge", await browser.see("/dead-letters"), which="all")
    assert "2 deleted for good." in answer.text
    assert await app.redis.xlen(keys.dead(0)) == 0


async def test_no_choice_is_no_order(app: ServedApp, browser: Browser) -> None:
    await bury(app.redis, "e1")
    answer = await browser.send("/dead-letters:purge", await browser.see("/dead-letters"))
    assert answer.status_code == 422
    assert await app.redis.xlen(keys.dead(0)) == 1


async def failed_job(redis_url: str, **args: str) -> str:
    with open_connection(redis_url) as jobs:
        ticket = await enqueue(open_queue(jobs, QUEUE), "spoil", args, unique_id="x")
        async with running(runner(jobs, {"spoil": spoil})):
            await has_status(jobs, ticket.job_id, JobStatus.FAILED)
    return ticket.job_id


async def spoil(context: JobContext[None], **_: str) -> None:
    raise Invalid("spoilt")


async def test_a_failed_job_is_shown_with_its_trace_and_queued_again(
    app: ServedApp, browser: Browser, redis_url: str
) -> None:
    job_id = await failed_job(redis_url, user="ada")
    assert "spoilt" in await browser.see("/jobs")
    page = await browser.see(f"/jobs/{job_id}")
    assert "Traceback" in page
    assert "ada" in page
    answer = await browser.send(f"/jobs/{job_id}:retry", page)
    assert "1 queued again." in answer.text
    async with app.client() as http:
        told = (await http.get(f"/v1/jobs/{job_id}")).json()
        again = await http.post(f"/v1/jobs/{job_id}:retry")
    assert told["job"]["status"] == "queued"
    assert again.status_code == 422


async def test_the_live_stream_speaks_at_once_and_ends_with_the_server(app: ServedApp) -> None:
    await say(app, "e1", "The zebra moved to Lisbon.")
    async with httpx.AsyncClient() as http, asyncio.TaskGroup() as tasks:
        async with app.listening() as url:
            first = asyncio.get_running_loop().create_future()
            reading = tasks.create_task(listened(http, f"{url}/dashboard/live", first))
            board = orjson.loads(await first)
        # Ended by a last chunk; a connection that was cut would have raised.
        assert await reading >= 1
    assert board["words"]["stage.embed.unread"] == "0"
    assert board["states"]["stage.embed"] == "clear"


async def listened(http: httpx.AsyncClient, url: str, first: "asyncio.Future[str]") -> int:
    """Reads events to the end of the stream, and says how many there were."""
    events = 0
    async with http.stream("GET", url) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                events += 1
                if not first.done():
                    first.set_result(line.removeprefix("data: "))
    return events


def pages_alone(settings: Settings, redis: RedisParts, app: ServedApp, assembly_url: str) -> list[APIRouter]:
    """A dashboard as a process of its own has it."""
    operations = services.open_operations(settings, redis, HealthChecks(redis.client), tells_levels=False)
    return [services.open_dashboard(redis, operations, app.authenticator, assembly_url)]


async def test_a_dashboard_of_its_own_asks_the_assembly_service_with_the_key_of_the_visitor(
    app: ServedApp, redis_url: str
) -> None:
    await say(app, "e1", "The zebra moved to Lisbon.")
    settings = Settings.model_validate({"redis_url": redis_url})
    async with app.listening() as url, AsyncExitStack() as stack:
        redis = await open_redis(settings, stack)
        alone = served_app(settings, redis, pages_alone(settings, redis, app, url), app.authenticator)
        async with Browser(alone) as browser:
            assert "The zebra moved" in await browser.see("/sessions", user="ada", session="s1")
            key = await app.key("globex", KeyScope.READ)
            await browser.login(key)
            page = await browser.see("/sessions", user="ada", session="s1")
            assert "no such session" in page


async def test_memory_pages_tell_when_the_assembly_service_is_away(redis_url: str, app: ServedApp) -> None:
    settings = Settings.model_validate({"redis_url": redis_url})
    async with AsyncExitStack() as stack:
        redis = await open_redis(settings, stack)
        pages = pages_alone(settings, redis, app, f"http://127.0.0.1:{free_port()}")
        async with Browser(served_app(settings, redis, pages, app.authenticator)) as browser:
            assert 'role="alert"' in await browser.see("/memory", query="zebra")
            assert "Overview" in await browser.see()
