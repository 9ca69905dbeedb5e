"""Forgetting as hosts and operators ask for it: over HTTP and from the terminal, with a job that does the work."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import pytest_asyncio
import typer
from fastapi import APIRouter
from redis.asyncio import Redis

from lithify.access import KeyScope
from lithify.assembly.library.export import Exporter
from lithify.assembly.library.export_routes import export_router
from lithify.assembly.library.forgetting_routes import ForgettingService, forgetting_router
from lithify.assembly.library.importing import Importer
from lithify.cli.forget import NotForgotten, forget
from lithify.cli.transfer import Bookmark, bookmark_file, export, import_records
from lithify.embedding import HashEmbedder
from lithify.errors import Invalid
from lithify.events import EVERY_TENANT, TenantScope, system_clock
from lithify.events.scope import SHARED
from lithify.forgetter.job import forget as forget_job
from lithify.forgetting import JOB, QUEUE, Target
from lithify.http import create_app
from lithify.http.authorization import Access
from lithify.jobs import JobRunner, Registry, bind_parts
from lithify.node.parts import collection_spec
from lithify.store import EdgeStore, Record, Where, point_id
from lithify.store.memory_record import COLLECTION, MemoryRecord
from tests.integration import jobs_parts
from tests.integration.terminal import served, typed
from tests.unit.forgetter.forgetting_parts import PARTITIONS, WORDS, World, spoken, world_on

WAIT_MS = 20_000


class Acme(Access):
    """Admits everybody into the tenant of the test's turns."""

    def needs(self, scope: KeyScope) -> Any:
        assert scope is KeyScope.ADMIN
        return lambda: TenantScope("acme")


@pytest_asyncio.fixture
async def world(
    edge_store: EdgeStore, redis: Redis, redis_url: str, hash_embedder: HashEmbedder, tmp_path: Path
) -> AsyncIterator[World]:
    await edge_store.ensure(collection_spec(hash_embedder))
    await edge_store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    with world_on(edge_store, redis, redis_url, hash_embedder, tmp_path) as made:
        yield made
        made.connection.flushall()


def router(world: World, access: Access | None = None) -> APIRouter:
    service = ForgettingService(world.store, world.redis, world.connection, PARTITIONS, WAIT_MS)
    importer = Importer(world.store, world.embedder, world.analyser, world.executor, world.redis, PARTITIONS)
    both = APIRouter()
    both.include_router(forgetting_router(service, access or Acme.open()))
    both.include_router(export_router(Exporter(world.store), importer, access or Acme.open()))
    return both


@asynccontextmanager
async def asking(world: World, access: Access | None = None) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app("test", [router(world, access)], 10_000), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


def runner_of(world: World, registry: Registry) -> JobRunner:
    return JobRunner(
        connection=world.connection,
        queue=QUEUE,
        registry=registry,
        executor=world.executor,
        settings=jobs_parts.CALM,
        clock=system_clock,
    )


@asynccontextmanager
async def working(world: World) -> AsyncIterator[None]:
    registry = {JOB: bind_parts(forget_job, world.parts())}
    runner = runner_of(world, registry)
    async with jobs_parts.running(runner):
        yield


async def test_ticket_leads_to_the_receipt(world: World) -> None:
    await world.told(spoken("e1"), spoken("e2", user="u2"))
    async with asking(world) as http:
        asked = await http.delete("/v1/users/u1")
        assert (asked.status_code, asked.json()["status"], asked.json()["receipt"]) == (202, "queued", None)
        path = f"/v1/forgettings/{asked.json()['id']}"
        async with working(world):
            await jobs_parts.eventually(lambda: jobs_parts.record(world.connection, asked.json()["id"]).has_ended)
        done = (await http.get(path)).json()
        async with asking(world, Access.open()) as stranger:
            assert (await stranger.get(path)).status_code == 404
    assert (done["status"], done["error"]) == ("finished", None)
    assert (done["receipt"]["verified"], done["receipt"]["target"]["user"]) == (True, "u1")
    assert await world.stored() == {"e2"}


@pytest.mark.parametrize(
    "path", ["/v1/users/u%2F1", "/v1/sessions/s%2F1?user=u/1", "/v1/sources/mail%2F1", "/v1/sources/mail/1?user=u/1"]
)
async def test_whoever_waits_gets_the_receipt_at_once(world: World, path: str) -> None:
    await world.told(spoken("e1", "u/1", "s/1", source_ref="mail/1"), spoken("e2", "u", "s"))
    async with asking(world) as http, working(world):
        done = await http.delete(path, params=httpx.QueryParams(path.partition("?")[2]).set("wait", "true"))
    assert (done.status_code, done.json()["receipt"]["verified"]) == (200, True)
    assert await world.stored() == {"e2"}


async def test_turn_that_is_sent_again_after_its_forgetting_is_new(world: World) -> None:
    await world.told(spoken("e1"))
    async with asking(world) as http, working(world):
        await http.delete("/v1/users/u1?wait=true")
    await world.told(spoken("e1", text="said again"))
    assert [record.payload["text"] for record in await world.records()] == ["said again"]


async def test_one_memory_is_forgotten_by_its_id_or_path(world: World) -> None:
    await world.told(spoken("e1"), spoken("e2", text="tea"), spoken("e3", text="rum"))
    by_event = {record.payload["event_id"]: record.id for record in await world.records()}
    async with asking(world) as http, working(world):
        assert (await http.delete(f"/v1/memories/{by_event['e1']}?wait=true")).status_code == 200
        assert (await http.delete(f"/v1/memories/memories%3A%3A{by_event['e2']}?wait=true")).status_code == 200
        assert (await http.delete(f"/v1/memories/{by_event['e1']}")).status_code == 404
    assert await world.stored() == {"e3"}


async def test_what_cannot_be_forgotten_this_way_is_refused(world: World) -> None:
    rule = Record(
        point_id("acme", "a", "b", "c"), MemoryRecord("acme", SHARED, "authored", "global", "Go.", 1).payload()
    )
    await world.store.upsert(TenantScope("acme"), COLLECTION, [rule])
    async with asking(world) as http:
        refused = await http.delete(f"/v1/memories/{rule.id}")
        assert (refused.status_code, "/v1/authored/" in refused.json()["detail"]) == (422, True)
        assert (await http.delete("/v1/memories/no-such-id")).status_code == 404
        assert (await http.delete("/v1/sessions/s1")).status_code == 422
        assert (await http.get("/v1/forgettings/forget-0")).status_code == 404
        assert (await http.get("/v1/forgettings/compact_session-0")).status_code == 404


def command(function: Any) -> typer.Typer:
    app = typer.Typer()
    app.command()(function)
    return app


async def test_terminal_waits_for_the_receipt_and_prints_it(world: World) -> None:
    await world.told(spoken("e1"), spoken("e2", user="u2"))
    async with working(world), served(router(world)) as url:
        done = await typed(command(forget), url, "--user", "u1", "--yes")
        assert (done.exit_code, "verified; removed: tails 1," in done.stdout) == (0, True)
        declined = await typed(command(forget), url, "--user", "u2", said="n\n")
        assert declined.exit_code == 1
        unclear = await typed(command(forget), url, "--session", "s1", "--yes")
        assert isinstance(unclear.exception, Invalid)
    assert await world.stored() == {"e2"}


async def test_terminal_tells_of_a_forgetting_that_was_given_up(world: World) -> None:
    async def hopeless(_context: object, **_args: object) -> None:
        raise Invalid("the archive cannot be read")

    runner = runner_of(world, {JOB: hopeless})
    async with jobs_parts.running(runner), served(router(world)) as url:
        done = await typed(command(forget), url, "--user", "u1", "--yes")
    assert isinstance(done.exception, NotForgotten)
    assert "the archive cannot be read" in str(done.exception)


async def test_file_that_broke_off_is_completed_and_imported_where_it_stopped(world: World, tmp_path: Path) -> None:
    await world.told(*(spoken(f"e{number}", text=f"fact\u2028{number}") for number in range(30)))
    before = await world.payloads()
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    async with served(router(world)) as url:
        printed = await typed(command(export), url)
        await typed(command(export), url, "--output", str(whole))
        torn.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:12])[:-5])
        resumed = await typed(command(export), url, "--output", str(torn), "--resume")
        assert (resumed.exit_code, "30 records" in resumed.stderr) == (0, True)
        assert printed.stdout_bytes == whole.read_bytes() == torn.read_bytes()
        again = await typed(command(export), url, "--output", str(whole))
        assert "--resume goes on with it" in str(again.exception), "an export is not written over"

        await world.store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
        Bookmark(url, whole.stat().st_size, 10).write(whole)
        done = await typed(command(import_records), url, str(whole), "--json")
        assert orjson.loads(done.stdout) == {"stored": 20, "embedded": 20}
        assert not bookmark_file(whole).exists()
        await typed(command(import_records), url, str(whole))
    assert await world.payloads() == before


async def test_bad_line_stops_an_import_and_is_named(world: World, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"id": 1}\n')
    async with served(router(world)) as url:
        refused = await typed(command(import_records), url, str(file))
        file.write_text("\nno JSON\n")
        unreadable = await typed(command(import_records), url, str(file))
    assert "records.0.kind" in str(refused.exception)
    assert "line 2 is not JSON" in str(unreadable.exception)


async def test_export_after_forgetting_yields_nothing(world: World) -> None:
    """spec 11.5"""
    await world.told(spoken("e1"), spoken("e2", user="u2"))
    async with working(world), served(router(world)) as url:
        await typed(command(forget), url, "--user", "u1", "--yes")
        assert (await typed(command(export), url, "--user", "u1")).stdout == ""
        assert (await typed(command(export), url)).stdout.count("\n") == 1
    assert WORDS in (await world.records())[0].payload["text"]


def test_target_of_a_strange_job_is_refused() -> None:
    with pytest.raises(Invalid, match="nothing that can be forgotten"):
        Target.from_arguments({"tenant": "acme", "kind": "tenant", "user": None, "name": "", "events": []})
