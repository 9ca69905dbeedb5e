"""Without keys only this machine's own programs and pages are served, on every route."""

import httpx
import pytest
from fastapi import APIRouter
from starlette.datastructures import Headers

from lithify.errors import Unavailable
from lithify.http import create_app
from lithify.http.origin import Authority, KeylessRule, find_foreign_part, is_same_origin, parse_authority

OWN = [
    "127.0.0.1",
    "127.0.0.1:8420",
    "127.8.9.1:1",
    "localhost",
    "LOCALHOST:8420",
    "localhost.:8420",
    "127.0.0.1.",
    "[::1]",
    "[::1]:8420",
    "[::ffff:127.0.0.1]:8420",
]
FOREIGN = [
    "",
    "evil.example",
    "evil.example:8420",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil@127.0.0.1",
    "127.0.0.1@evil.example",
    "127.0.0.1:8420@evil.example",
    "evil.example\\@localhost",
    "localhost:evil",
    "localhost/evil",
    "192.168.1.5:8420",
    "0.0.0.0:8420",
    "[::]:8420",
    "[::1",
    "::1",
    "2130706433",
    "localhost..",
]


def headers(**named: str) -> Headers:
    return Headers({name.replace("_", "-"): value for name, value in named.items()})


@pytest.mark.parametrize("host", OWN)
def test_every_name_of_this_machine_is_its_own(host: str) -> None:
    assert find_foreign_part(headers(host=host), frozenset()) is None


@pytest.mark.parametrize("host", FOREIGN)
def test_any_other_host_is_foreign_and_told_what_to_set(host: str) -> None:
    assert "LITHIFY_ALLOWED_HOSTS" in (find_foreign_part(headers(host=host), frozenset()) or "")


def test_a_request_without_a_host_or_with_two_is_foreign() -> None:
    assert find_foreign_part(Headers({}), frozenset())
    twice = Headers(raw=[(b"host", b"127.0.0.1"), (b"host", b"evil.example")])
    assert find_foreign_part(twice, frozenset())


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://127.0.0.1:8420", "127.0.0.1:8420"),
        ("http://LOCALHOST:8420", "localhost:8420"),
        ("http://localhost", "localhost:80"),
        ("https://localhost:443", "localhost"),
        ("http://[::1]:8420", "[::1]:8420"),
    ],
)
def test_a_page_of_the_own_address_is_of_the_same_origin(origin: str, host: str) -> None:
    assert is_same_origin(headers(host=host, origin=origin))


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "http://127.0.0.1:9999",
        "http://localhost:8420",
        "file://",
        "http://127.0.0.1",
    ],
)
def test_a_page_of_any_other_address_is_not(origin: str) -> None:
    assert not is_same_origin(headers(host="127.0.0.1:8420", origin=origin))


@pytest.mark.parametrize(
    ("site", "own"), [("same-origin", True), ("none", True), ("same-site", False), ("cross-site", False), ("x", False)]
)
def test_what_a_browser_says_of_the_page_decides_where_it_names_no_origin(site: str, own: bool) -> None:
    assert is_same_origin(headers(host="127.0.0.1:8420", sec_fetch_site=site)) is own


def test_names_are_read_as_people_write_them() -> None:
    assert parse_authority("Lithify.Internal.:8420") == Authority("lithify.internal", 8420)
    rule = KeylessRule.of(keyless, ["Lithify.Internal:8420", "", "two words"])
    assert rule.allowed_hosts == {"lithify.internal"}


async def keyless() -> bool:
    return True


async def with_keys() -> bool:
    return False


async def in_an_outage() -> bool:
    raise Unavailable("Redis is away")


async def ask(rule: KeylessRule, method: str, path: str, **named: str) -> int:
    router = APIRouter()

    @router.get("/livez")
    @router.get("/readyz")
    @router.get("/thing")
    @router.post("/thing:retry")
    async def answer() -> str:
        return "done"

    app = create_app("test", [router], 1024, rule)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http:
        response = await http.request(method, path, headers=dict(headers(**named)))
        assert response.is_success or response.headers["content-type"] == "application/problem+json"
        return response.status_code


@pytest.mark.parametrize("path", ["/thing", "/nowhere"])
async def test_a_rebound_name_reaches_nothing(path: str) -> None:
    assert await ask(KeylessRule(keyless), "GET", path, host="evil.example:8420") == 403


async def test_a_foreign_page_starts_nothing_by_a_post_without_a_body() -> None:
    rule = KeylessRule(keyless)
    for named in ({"origin": "https://evil.example"}, {"origin": "null"}, {"sec_fetch_site": "cross-site"}):
        assert await ask(rule, "POST", "/thing:retry", **named) == 403
    assert await ask(rule, "POST", "/thing:retry") == 200


async def test_probes_answer_to_any_name() -> None:
    for path in ("/livez", "/readyz"):
        assert await ask(KeylessRule(keyless), "GET", path, host="10.1.2.3:8420") == 200


async def test_a_name_that_the_operator_allows_is_served_to_its_own_pages_only() -> None:
    rule = KeylessRule.of(keyless, ["lithify.internal"])
    assert await ask(rule, "GET", "/thing", host="lithify.internal", origin="https://lithify.internal") == 200
    assert await ask(rule, "GET", "/thing", host="lithify.internal", origin="https://evil.example") == 403


async def test_where_keys_are_asked_for_the_name_does_not_matter() -> None:
    assert await ask(KeylessRule(with_keys), "GET", "/thing", host="lithify.example") == 200


async def test_while_nobody_knows_about_keys_a_foreign_name_waits_and_the_own_machine_does_not() -> None:
    assert await ask(KeylessRule(in_an_outage), "GET", "/thing", host="lithify.example") == 503
    assert await ask(KeylessRule(in_an_outage), "GET", "/thing") == 200
