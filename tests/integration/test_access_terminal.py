"""`lithify keys`: on Redis for the operator, through a service for an administrator."""

import asyncio
from pathlib import Path

import orjson
import pytest
import structlog
from redis.asyncio import Redis
from typer.testing import CliRunner, Result

from lithify.access import ApiKeyRequest, ApiKeyStore, KeyScope, RateLimit, make_authenticator
from lithify.cli import keys as command
from lithify.cli.keys import RedisKeyAdmin, ServiceKeyAdmin, choose_admin
from lithify.client import Missing, Refused
from lithify.errors import Invalid, Unavailable
from lithify.events import system_clock
from lithify.node.redis_server import EmbeddedRedis
from lithify.operations.key_routes import key_router
from lithify.settings import load_settings
from tests.integration.terminal import served, typed


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LITHIFY_DATA_DIR", str(tmp_path))
    for name in ("LITHIFY_REDIS_URL", "LITHIFY_API_KEY", "LITHIFY_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def operator(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITHIFY_REDIS_URL", redis_url)


async def keys(*words: str) -> Result:
    """What a person types behind `lithify keys`; it blocks, hence the thread."""
    return await asyncio.to_thread(lambda: CliRunner().invoke(command.app, words))


@pytest.mark.usefixtures("operator")
async def test_the_operator_makes_keys_of_any_tenant_before_any_service_runs(redis: Redis) -> None:
    made = await keys("create", "--tenant", "acme", "--scopes", "ingest, read", "--name", "bot")
    other = await keys("create", "--tenant", "globex", "--json")

    authenticator = make_authenticator(ApiKeyStore(redis, system_clock), RateLimit(redis, 0), loopback=True)
    key = await authenticator.authenticate(made.stdout.strip(), KeyScope.INGEST)
    assert key is not None
    assert (key.tenant, key.name, sorted(key.scopes)) == ("acme", "bot", ["ingest", "read"])
    assert "not shown again" in made.stderr
    assert orjson.loads(other.stdout_bytes)["tenant"] == "globex"


@pytest.mark.usefixtures("operator")
async def test_the_operator_lists_and_revokes_them(redis: Redis) -> None:
    row = orjson.loads((await keys("create", "--tenant", "ac[me", "--json")).stdout_bytes)
    shown = await keys("list")
    assert row["id"] in shown.stdout
    assert "ac[me" in shown.stdout
    assert row["key"] not in shown.stdout

    assert "is revoked" in (await keys("revoke", row["id"])).stderr

    [listed] = orjson.loads((await keys("list", "--json")).stdout_bytes)["keys"]
    assert listed["revoked_at"] is not None
    assert "key" not in listed


@pytest.mark.usefixtures("operator")
async def test_a_service_without_keys_is_told_to_be_open() -> None:
    assert "open to its own machine" in (await keys("list")).stderr


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("create", "--scopes", "root"), "--scopes"),
        (("create", "--scopes", ""), "--scopes"),
        (("create", "--tenant", " "), "--tenant"),
        (("create", "--name", "a\nb"), "--name"),
        (("revoke", "nonsense"), "nonsense"),
    ],
)
async def test_what_makes_no_sense_is_refused_and_named(words: tuple[str, ...], named: str) -> None:
    refused = await keys(*words)
    assert isinstance(refused.exception, Invalid)
    assert named in str(refused.exception)


async def test_an_administrator_manages_the_keys_of_the_own_tenant_through_a_service(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ApiKeyStore(redis, system_clock)
    router = key_router(store, make_authenticator(store, RateLimit(redis, 0), loopback=True))
    # Logs of the service, which is inside the test, do not belong to what the command prints.
    with structlog.testing.capture_logs():
        async with served(router) as url:
            first = orjson.loads((await typed(command.app, url, "create", "--scopes", "admin", "--json")).stdout_bytes)
            assert first["tenant"] == "default"
            assert isinstance((await typed(command.app, url, "list")).exception, Refused)
            monkeypatch.setenv("LITHIFY_API_KEY", first["key"])
            second = orjson.loads((await typed(command.app, url, "create", "--json")).stdout_bytes)
            assert (second["tenant"], second["scopes"]) == ("default", ["ingest", "read"])
            refused = (await typed(command.app, url, "create", "--tenant", "globex")).exception
            assert isinstance(refused, Refused)
            assert refused.status == 403
            assert (await typed(command.app, url, "revoke", second["id"])).exit_code == 0
            assert isinstance((await typed(command.app, url, "revoke", "a/b")).exception, Missing)


async def test_keys_are_made_where_they_belong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert isinstance(choose_admin(load_settings(), by_service=False), ServiceKeyAdmin)
    async with EmbeddedRedis(tmp_path / "redis"):
        local = choose_admin(load_settings(), by_service=False)
        assert isinstance(local, RedisKeyAdmin)
        made = await asyncio.to_thread(local.create, ApiKeyRequest(scopes=frozenset({KeyScope.READ})))
        assert [row["id"] for row in await asyncio.to_thread(local.rows)] == [made["id"]]
        assert isinstance(choose_admin(load_settings(), by_service=True), ServiceKeyAdmin)
        monkeypatch.setenv("LITHIFY_API_KEY", "lf_a_b")
        assert isinstance(choose_admin(load_settings(), by_service=False), ServiceKeyAdmin)


async def test_without_redis_and_without_service_there_is_nobody_to_ask() -> None:
    refused = await typed(command.app, "http://127.0.0.1:1", "list")
    assert isinstance(refused.exception, Unavailable)
