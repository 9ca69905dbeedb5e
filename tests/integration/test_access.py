"""API keys on a real Redis: made, recognised, limited, revoked, and never readable again."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
import structlog
from redis.asyncio import Redis

from lithify.access import (
    ApiKeyAuthenticator,
    ApiKeyRequest,
    ApiKeyStore,
    Credential,
    KeyScope,
    RateLimit,
    make_authenticator,
)
from lithify.access.authentication import KEYS_FRESH_S, Forbidden, Unauthorised
from lithify.access.key_cache import KeyCache
from lithify.errors import Overloaded, Unavailable
from lithify.events import EVERY_TENANT, TenantScope, system_clock
from lithify.node.redis_server import EmbeddedRedis
from lithify.streams import connection, keys, open_consumer
from tests.integration.whole_app import ServedApp, gateway_app

INGEST, READ, ADMIN = KeyScope.INGEST, KeyScope.READ, KeyScope.ADMIN
PROBLEM = "application/problem+json"
TURN = {"event_id": "e", "user": "u", "session": "s", "role": "user", "text": "hello"}


@pytest.fixture
def store(redis: Redis) -> ApiKeyStore:
    return ApiKeyStore(redis, system_clock)


def authenticator_of(redis: Redis, *, per_second: int = 0, loopback: bool = True) -> ApiKeyAuthenticator:
    return make_authenticator(ApiKeyStore(redis, system_clock), RateLimit(redis, per_second), loopback=loopback)


def wanted(tenant: str, *scopes: KeyScope, name: str = "") -> ApiKeyRequest:
    return ApiKeyRequest(tenant=tenant, scopes=frozenset(scopes or (READ,)), name=name)


async def test_redis_holds_the_digest_and_neither_the_key_nor_its_secret(redis: Redis, store: ApiKeyStore) -> None:
    key, credential = await store.create(wanted("acme", INGEST, READ, name="bot"))
    assert await store.find(key.id) == key
    held = str([await redis.hgetall(keys.api_key(key.id)), await redis.smembers(keys.API_KEYS)])
    assert credential.digest() in held
    assert credential.secret not in held


async def test_two_keys_of_a_tenant_live_side_by_side_until_one_is_revoked(redis: Redis, store: ApiKeyStore) -> None:
    (old, old_credential), (_, new_credential) = [await store.create(wanted("acme")) for _ in range(2)]
    authenticator = authenticator_of(redis)
    for credential in (old_credential, new_credential):
        assert await authenticator.authenticate(credential.reveal(), READ)

    await store.revoke(EVERY_TENANT, old.id)
    authenticator.forget()

    assert await authenticator.authenticate(new_credential.reveal(), READ)
    with pytest.raises(Unauthorised):
        await authenticator.authenticate(old_credential.reveal(), READ)


async def use_until_refused(authenticator: ApiKeyAuthenticator, credential: Credential) -> None:
    async with asyncio.timeout(20 * KEYS_FRESH_S):
        while await authenticator.authenticate(credential.reveal(), READ):  # noqa: ASYNC110 - Redis tells nobody when a key is revoked
            await asyncio.sleep(KEYS_FRESH_S / 20)


async def test_another_process_refuses_a_revoked_key_when_its_memory_is_no_longer_fresh(
    redis: Redis, store: ApiKeyStore
) -> None:
    key, credential = await store.create(wanted("acme"))
    authenticator = authenticator_of(redis)
    assert await authenticator.authenticate(credential.reveal(), READ)
    await store.revoke(EVERY_TENANT, key.id)
    with pytest.raises(Unauthorised):
        await use_until_refused(authenticator, credential)


async def test_revoking_is_final_and_keeps_its_first_time(redis: Redis) -> None:
    times = iter((10, 20, 30))
    store = ApiKeyStore(redis, lambda: next(times))
    key, _ = await store.create(wanted("acme"))
    first = await store.revoke(EVERY_TENANT, key.id)
    again = await store.revoke(EVERY_TENANT, key.id)
    assert first == again
    assert again is not None
    assert (again.created_at, again.revoked_at, again.digest) == (10, 20, "")


async def test_a_tenant_sees_and_revokes_its_own_keys_only(store: ApiKeyStore) -> None:
    ours, _ = await store.create(wanted("acme"))
    theirs, credential = await store.create(wanted("globex"))
    assert await store.all(TenantScope("acme")) == [ours]
    assert await store.all(EVERY_TENANT) == [ours, theirs]
    assert await store.revoke(TenantScope("acme"), theirs.id) is None
    found = await store.find(theirs.id)
    assert found is not None
    assert found.recognises(credential)


@pytest.mark.parametrize(
    "presented", ["", "lf_x_y", "sk-123", Credential.new().reveal()], ids=["empty", "short", "foreign", "unknown"]
)
async def test_what_is_no_known_key_is_refused_even_where_none_is_needed(redis: Redis, presented: str) -> None:
    authenticator = authenticator_of(redis)
    assert await authenticator.authenticate(None, ADMIN) is None
    with pytest.raises(Unauthorised):
        await authenticator.authenticate(presented, READ)


async def test_a_right_id_with_a_wrong_secret_is_refused(redis: Redis, store: ApiKeyStore) -> None:
    key, _ = await store.create(wanted("acme"))
    with pytest.raises(Unauthorised):
        await authenticator_of(redis).authenticate(Credential(key.id, Credential.new().secret).reveal(), READ)


async def test_the_first_key_closes_the_door_and_revoking_the_last_one_does_not_open_it_again(
    redis: Redis, store: ApiKeyStore
) -> None:
    authenticator = authenticator_of(redis)
    assert await authenticator.authenticate(None, READ) is None
    key, _ = await store.create(wanted("acme"))
    await store.revoke(EVERY_TENANT, key.id)
    authenticator.forget()
    with pytest.raises(Unauthorised):
        await authenticator.authenticate(None, READ)


async def test_a_service_that_other_machines_reach_asks_for_a_key_even_where_none_exists(redis: Redis) -> None:
    with pytest.raises(Unauthorised):
        await authenticator_of(redis, loopback=False).authenticate(None, READ)


async def test_a_key_without_the_scope_is_forbidden(redis: Redis, store: ApiKeyStore) -> None:
    _, credential = await store.create(wanted("acme", INGEST))
    with pytest.raises(Forbidden, match="read"):
        await authenticator_of(redis).authenticate(credential.reveal(), READ)


async def test_the_log_names_the_id_of_a_refused_key_and_never_its_secret(redis: Redis, store: ApiKeyStore) -> None:
    _, credential = await store.create(wanted("acme", INGEST))
    with structlog.testing.capture_logs() as logged, pytest.raises(Forbidden):
        await authenticator_of(redis).authenticate(credential.reveal(), READ)
    assert [line["key_id"] for line in logged] == [credential.id]
    assert credential.secret not in str(logged)


async def test_a_second_worth_of_requests_passes_and_the_next_is_told_to_wait(redis: Redis, store: ApiKeyStore) -> None:
    _, greedy = await store.create(wanted("acme"))
    _, modest = await store.create(wanted("acme"))
    authenticator = authenticator_of(redis, per_second=1)
    await authenticator.authenticate(greedy.reveal(), READ)
    with pytest.raises(Overloaded) as refused:
        await authenticator.authenticate(greedy.reveal(), READ)
    assert refused.value.retry_after_s == 1
    await authenticator.authenticate(modest.reveal(), READ)


async def test_a_refused_request_costs_nothing_and_the_limit_frees_itself(redis: Redis) -> None:
    limit = RateLimit(redis, 1)
    await limit.spend("k")
    used = await redis.get(keys.rate("k"))
    for _ in range(10):
        with pytest.raises(Overloaded):
            await limit.spend("k")
    assert await redis.get(keys.rate("k")) == used
    assert 0 < await redis.pttl(keys.rate("k")) <= 1_000


async def spend(limit: RateLimit, requests: int) -> None:
    for _ in range(requests):
        await limit.spend("k")


async def test_more_requests_per_second_may_come_at_once(redis: Redis) -> None:
    limit = RateLimit(redis, 50)
    await spend(limit, 50)
    with pytest.raises(Overloaded):
        await spend(limit, 1_000)


@pytest_asyncio.fixture
async def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Redis]:
    """A Redis that cannot be reached."""
    monkeypatch.setattr(connection, "CONNECT_TIMEOUT_S", 0.1)
    async with open_consumer(f"unix://{tmp_path}/redis.sock", block_ms=0) as client:
        yield client


async def test_while_redis_is_away_an_unknown_key_is_an_outage_and_not_a_refusal(away: Redis) -> None:
    with pytest.raises(Unavailable):
        await authenticator_of(away).authenticate(Credential.new().reveal(), READ)
    with pytest.raises(Unavailable):
        await authenticator_of(away).authenticate(None, READ)


async def test_who_came_in_before_an_outage_stays_in_and_nobody_else_does(tmp_path: Path) -> None:
    async with EmbeddedRedis(tmp_path / "redis") as server, open_consumer(server.url, block_ms=0) as redis:
        store = ApiKeyStore(redis, system_clock)
        credentials = [(await store.create(wanted("acme", ADMIN)))[1].reveal() for _ in range(2)]
        # Believes nothing unasked, so that every request meets the outage.
        authenticator = replace(authenticator_of(redis), keys=KeyCache(store.find, 0.0))
        known = await authenticator.authenticate(credentials[0], READ)
        await server.stop()
        assert await authenticator.authenticate(credentials[0], READ) == known
        with pytest.raises(Unavailable):
            await authenticator.authenticate(credentials[1], READ)


async def test_while_redis_is_away_nothing_is_counted(away: Redis) -> None:
    await RateLimit(away, 1).spend("k")
    await RateLimit(away, 1).spend("k")


@pytest_asyncio.fixture
async def served(redis_url: str) -> AsyncIterator[ServedApp]:
    async with gateway_app(redis_url) as app:
        yield app


def refusal(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == PROBLEM
    return answer.status_code, answer.json()["detail"]


async def test_http_tells_the_kinds_of_refusal_apart(served: ServedApp) -> None:
    sender = await served.key("acme", INGEST)
    async with served.client() as nobody, served.client(Credential.new().reveal()) as stranger:
        for answer in (await nobody.get("/v1/keys"), await stranger.get("/v1/keys")):
            assert refusal(answer)[0] == 401
            assert answer.headers["www-authenticate"].startswith("Bearer")
    async with served.client(sender) as http:
        status, detail = refusal(await http.get("/v1/receipts/e"))
        assert (status, "read" in detail) == (403, True)
        assert (await http.post("/v1/turns", json=TURN)).status_code == 202


@pytest.mark.parametrize(
    ("headers", "params", "body"),
    [
        ({"X-Lithify-Tenant": "globex"}, {}, {}),
        ({}, {"tenant": "globex"}, {}),
        ({}, {}, {"tenant": "globex"}),
    ],
)
async def test_naming_another_tenant_is_forbidden(
    served: ServedApp, headers: dict[str, str], params: dict[str, str], body: dict[str, str]
) -> None:
    async with served.client(await served.key("acme", INGEST)) as http:
        answer = await http.post("/v1/turns", json=TURN | body, headers=headers, params=params)
    status, detail = refusal(answer)
    assert (status, "tenant" in detail) == (403, True)
    assert not await served.redis.exists(keys.receipt("acme", "e"), keys.receipt("globex", "e"))


async def test_naming_the_own_tenant_in_a_header_is_fine_and_in_a_body_an_unknown_field(served: ServedApp) -> None:
    async with served.client(await served.key("acme", INGEST)) as http:
        headers = {"X-Lithify-Tenant": "acme"}
        assert (await http.post("/v1/turns", json=TURN, headers=headers)).status_code == 202
        assert refusal(await http.post("/v1/turns", json=TURN | {"tenant": "acme"}))[0] == 422


async def test_http_makes_lists_and_revokes_keys_and_shows_the_key_once(served: ServedApp) -> None:
    async with served.client(await served.key("acme", ADMIN)) as http:
        made = await http.post("/v1/keys", json={"scopes": ["read"], "name": "bot"})
        assert made.status_code == 201
        assert made.headers["cache-control"] == "no-store"
        key = made.json().pop("key")
        listed = await http.get("/v1/keys")
        assert [entry["name"] for entry in listed.json()["keys"]] == ["", "bot"]
        assert key not in listed.text
        assert (made.json()["tenant"], made.json()["scopes"]) == ("acme", ["read"])
        async with served.client(key) as reader:
            assert (await reader.get("/v1/receipts/e")).status_code == 404
            gone = await http.delete(f"/v1/keys/{made.json()['id']}")
            assert gone.json()["revoked_at"] is not None
            assert (await reader.get("/v1/receipts/e")).status_code == 401
        assert (await http.delete("/v1/keys/0000000000000000")).status_code == 404


async def test_an_administrator_makes_no_keys_of_other_tenants(served: ServedApp) -> None:
    async with served.client(await served.key("acme", ADMIN)) as http:
        made = await http.post("/v1/keys", json={"scopes": ["read"], "tenant": "globex"})
    assert refusal(made)[0] == 403


async def test_without_keys_the_own_machine_makes_the_first_one_for_any_tenant(served: ServedApp) -> None:
    async with served.client() as http:
        made = await http.post("/v1/keys", json={"scopes": ["admin"], "tenant": "globex"})
        assert made.json()["tenant"] == "globex"
        assert (await http.get("/v1/keys")).status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"scopes": []},
        {"scopes": ["root"]},
        {"scopes": ["read"], "tenant": ""},
        {"scopes": ["read"], "name": "a\nb"},
    ],
)
async def test_a_key_that_makes_no_sense_is_not_made(served: ServedApp, body: dict[str, object]) -> None:
    async with served.client() as http:
        assert refusal(await http.post("/v1/keys", json=body))[0] == 422
        assert (await http.get("/v1/keys")).json() == {"keys": []}


async def test_a_limited_key_gets_429_and_the_time_to_wait(redis_url: str) -> None:
    async with gateway_app(redis_url, rate_limit=1) as app, app.client(await app.key("acme", READ)) as http:
        answers = [await http.get("/v1/receipts/e") for _ in range(3)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert answers[0].status_code == 404
    assert refused
    assert refused[0].headers["retry-after"] == "1"
    assert refusal(refused[0])[0] == 429
