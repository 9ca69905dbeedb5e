"""Who may see and do what on the dashboard: by key, by form, by host; and nothing of another tenant."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from lithify.access import ApiKeyStore, Credential, KeyScope
from lithify.dashboard.authentication import COOKIE
from lithify.dashboard.browser_sessions import TTL_S
from lithify.dashboard.pages import NAVIGATION, OPERATOR_PAGES
from lithify.events import EVERY_TENANT, Event, encode_event, system_clock
from lithify.streams import keys
from tests.integration.dashboard_parts import HOME, Browser
from tests.integration.whole_app import ServedApp, whole_app

READ, ADMIN, INGEST = KeyScope.READ, KeyScope.ADMIN, KeyScope.INGEST
SECRET = "zebra"  # noqa: S105 - a word that only one tenant ever said
LETTER = "0-5-0"


@pytest_asyncio.fixture
async def app(redis_url: str, tmp_path: Path) -> AsyncIterator[ServedApp]:
    async with whole_app(redis_url, tmp_path) as served:
        yield served


async def bury(app: ServedApp, tenant: str) -> None:
    letter = Event("e2", tenant, "ada", "s1", "user", f"the {SECRET} moved", ts=1)
    await app.redis.xadd(keys.dead(0), {"event": encode_event(letter), "seq": 2}, id="5-0")


async def test_without_a_visit_every_page_leads_to_the_login_and_back(app: ServedApp) -> None:
    key = await app.key("acme", READ)
    async with Browser(app) as browser:
        for path, _ in NAVIGATION:
            answer = await browser.http.get(f"/dashboard{path}", follow_redirects=False)
            assert answer.status_code == 303, path
            assert answer.headers["location"].startswith("/dashboard/login?next="), path
        live = await browser.http.get("/dashboard/live", follow_redirects=False)
        assert live.status_code == 303
        page = (await browser.http.get("/dashboard/streams")).text
        entered = await browser.send("/login", page, key=key, next="/sessions")
        assert str(entered.url).endswith("/dashboard/sessions")


async def test_a_key_is_neither_in_redis_nor_in_the_cookie_and_the_visit_expires(app: ServedApp) -> None:
    key = await app.key("acme", READ)
    async with Browser(app) as browser:
        answer = await browser.login(key)
        assert answer.status_code == 200
        [held] = [key async for key in app.redis.scan_iter(f"{keys.PREFIX}visit:*")]
        value = await app.redis.get(held)
        credential = Credential.parse(key)
        assert credential is not None
        assert isinstance(value, bytes)
        token = browser.http.cookies[COOKIE]
        for secret in (key, credential.secret, token):
            assert secret.encode() not in value + held
        assert credential.secret not in token
        assert 0 < await app.redis.ttl(held) <= TTL_S


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(app: ServedApp) -> None:
    key = await app.key("acme", READ)
    async with Browser(app) as browser:
        page = await browser.see("/login")
        browser.http.follow_redirects = False
        told = (await browser.send("/login", page, key=key)).headers["set-cookie"].lower()
        assert "httponly" in told
        assert "samesite=strict" in told
        assert "path=/dashboard" in told
        assert "secure" not in told
    async with Browser(app, "https://lithify.example") as browser:
        assert "; secure" in (await browser.http.get("/dashboard/login")).headers["set-cookie"].lower()


async def test_wrong_keys_and_keys_that_may_not_read_do_not_open_the_door(app: ServedApp) -> None:
    ingest = await app.key("acme", INGEST)
    async with Browser(app) as browser:
        for key in ("nonsense", Credential.new().reveal(), ingest):
            answer = await browser.login(key)
            assert answer.status_code == 403
            assert 'role="alert"' in answer.text
        assert (await browser.http.get("/dashboard", follow_redirects=False)).status_code == 303


async def test_whoever_may_only_read_sees_the_own_memory_and_can_do_nothing(app: ServedApp) -> None:
    await bury(app, "acme")
    async with Browser(app) as browser:
        await browser.login(await app.key("acme", READ))
        assert "read-only" in await browser.see()
        letters = await browser.see("/dead-letters")
        assert SECRET not in letters
        assert "Redrive" not in letters
        for path, fields in (
            ("/dead-letters:redrive", {"letter": LETTER}),
            ("/dead-letters:purge", {"which": "all"}),
            ("/jobs/x:retry", {}),
        ):
            assert (await browser.send(path, letters, **fields)).status_code == 403, path
        assert (await browser.http.get(f"/dashboard/dead-letters/{LETTER}")).status_code == 403
    assert await app.redis.xlen(keys.dead(0)) == 1


@pytest.mark.parametrize("scope", [READ, ADMIN])
async def test_figures_of_the_whole_node_are_shown_to_the_operator_only(app: ServedApp, scope: KeyScope) -> None:
    await bury(app, "acme")
    async with Browser(app) as browser:
        arrived = await browser.login(await app.key("globex", scope))
        assert str(arrived.url).endswith("/dashboard/memory")
        for path in OPERATOR_PAGES - {""} | {"/live"}:
            assert (await browser.http.get(f"/dashboard{path}")).status_code == 403, path
        for path in ("/memory", "/jobs", "/dead-letters"):
            page = await browser.see(path)
            assert "data-live" not in page, path
            assert "/dashboard/streams" not in page, path
    async with Browser(app) as browser:
        await browser.login(await app.key("default", ADMIN))
        assert "Accept → searchable" in await browser.see()
        assert "1" in (await browser.see("/dead-letters")).split("in all")[0][-20:]


async def test_an_administrator_acts_in_the_own_tenant_only(app: ServedApp) -> None:
    await bury(app, "acme")
    async with Browser(app) as browser:
        await browser.login(await app.key("globex", ADMIN))
        page = await browser.see("/dead-letters")
        assert SECRET not in page
        assert (await browser.http.get(f"/dashboard/dead-letters/{LETTER}")).status_code == 404
        await browser.send("/dead-letters:purge", page, which="all")
        await browser.send("/dead-letters:purge", page, letter=LETTER)
        assert await app.redis.xlen(keys.dead(0)) == 1
    async with Browser(app) as browser:
        await browser.login(await app.key("acme", ADMIN))
        assert SECRET in await browser.see(f"/dead-letters/{LETTER}")
        await browser.send("/dead-letters:purge", await browser.see("/dead-letters"), letter=LETTER)
        assert await app.redis.xlen(keys.dead(0)) == 0


async def test_memory_pages_show_the_own_tenant_only(app: ServedApp) -> None:
    turn = {"event_id": "e1", "user": "ada", "session": "s1", "role": "user", "text": f"the {SECRET} moved"}
    async with app.client(await app.key("acme", ADMIN)) as http:
        assert (await http.post("/v1/turns", params={"wait": "searchable"}, json=turn)).json()["searchable"]
    paths = ("/memory?query=moved&user=ada", "/sessions?user=ada&session=s1", "/playground?user=ada&session=s1")
    seen = {}
    for tenant in ("acme", "globex"):
        async with Browser(app) as browser:
            await browser.login(await app.key(tenant, READ))
            seen[tenant] = [SECRET in await browser.see(path) for path in paths]
    assert seen == {"acme": [True] * 3, "globex": [False] * 3}


async def test_a_form_without_the_csrf_token_of_the_session_is_refused(app: ServedApp) -> None:
    await bury(app, "default")
    async with Browser(app) as browser, Browser(app) as other:
        page, foreign = await browser.see("/dead-letters"), await other.see("/dead-letters")
        for bad in ("", foreign):
            assert (await browser.send("/dead-letters:purge", bad, which="all")).status_code == 403
        assert await app.redis.xlen(keys.dead(0)) == 1
        assert (await browser.send("/dead-letters:purge", page, which="all")).status_code == 200


async def test_a_form_sent_by_another_origin_is_refused_even_with_the_right_csrf_token(app: ServedApp) -> None:
    await bury(app, "default")
    async with Browser(app) as browser:
        page = await browser.see("/dead-letters")
        browser.http.headers["Origin"] = "http://127.0.0.1:9999"
        token = page.split('name="csrf_token" value="')[1].split('"')[0]
        for origin in ("http://127.0.0.1:9999", "https://evil.example", "null"):
            form = {"csrf_token": token, "which": "all"}
            answer = await browser.http.post("/dashboard/dead-letters:purge", data=form, headers={"Origin": origin})
            assert answer.status_code == 403, origin
    assert await app.redis.xlen(keys.dead(0)) == 1


async def test_without_keys_a_name_that_is_not_this_machine_is_refused(app: ServedApp) -> None:
    async with Browser(app, "http://rebound.example:8420") as browser:
        for path in ("/dashboard", "/dashboard/memory", "/dashboard/live"):
            assert (await browser.http.get(path)).status_code == 403
    async with Browser(app, "http://localhost:8420") as browser:
        assert (await browser.http.get("/dashboard")).status_code == 200


async def test_a_revoked_key_ends_its_visit_and_so_does_logging_out(app: ServedApp) -> None:
    key = await app.key("acme", READ)
    async with Browser(app) as browser:
        await browser.login(key)
        page = await browser.see()
        await browser.send("/logout", page)
        assert "Log in" in (await browser.http.get("/dashboard")).text
        assert [key async for key in app.redis.scan_iter(f"{keys.PREFIX}visit:*")] == []

        await browser.login(key)
        assert "Search" in await browser.see()
        credential = Credential.parse(key)
        assert credential is not None
        await ApiKeyStore(app.redis, system_clock).revoke(EVERY_TENANT, credential.id)
        app.authenticator.forget()
        assert str((await browser.http.get("/dashboard")).url).startswith(f"{HOME}/dashboard/login")


async def test_the_login_leads_to_no_other_site(app: ServedApp) -> None:
    key = await app.key("acme", READ)
    for target in ("//evil.example", "https://evil.example", "/\\evil.example", "\n/x"):
        async with Browser(app) as browser:
            page = await browser.see("/login")
            browser.http.follow_redirects = False
            answer = await browser.send("/login", page, key=key, next=target)
            assert answer.headers["location"] == "/dashboard", target


async def test_nothing_outside_the_own_files_is_served(app: ServedApp) -> None:
    async with Browser(app) as browser:
        assert (await browser.http.get("/dashboard/static/dashboard.css")).status_code == 200
        for name in ("..%2fpages.py", "%2e%2e%2ftemplates%2flayout.html", "py.typed", ""):
            assert (await browser.http.get(f"/dashboard/static/{name}")).status_code == 404, name
