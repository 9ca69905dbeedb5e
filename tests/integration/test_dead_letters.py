"""Dead letters: found, shown, redriven exactly once and purged, by code, by HTTP and from the terminal."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson
import pytest
import pytest_asyncio
from redis.asyncio import Redis
from typer.testing import CliRunner, Result

from lithify.cli import dlq
from lithify.errors import Invalid, Overloaded
from lithify.events import EVERY_TENANT, AnyTenant, TenantScope, system_clock
from lithify.http import create_app
from lithify.http.authorization import Access
from lithify.node.runtime import listen, serve
from lithify.operations.letter_routes import dead_letter_router
from lithify.streams import (
    Consumer,
    DeadLetters,
    LetterId,
    Receipts,
    connection,
    keys,
    open_producer,
    script,
)
from tests.fault.proxy import proxy_to
from tests.integration.stream_parts import (
    CALM,
    DEAD,
    GROUP,
    MOMENT,
    PARTITIONS,
    STREAM,
    Ledger,
    accept,
    consumer,
    dead_letters,
    entries,
    eventually,
    laid,
    pending,
    poison,
    producer,
    running,
    turn,
)


async def buried(redis: Redis, *event_ids: str) -> list[LetterId]:
    """Accept turns of which none can be handled, and have them buried by a real consumer."""
    await accept(redis, *event_ids)
    await bury_all(redis, *event_ids)
    return await dead_letters(redis).ids(EVERY_TENANT)


async def bury_all(redis: Redis, *event_ids: str) -> None:
    worker = consumer(redis, poison(*event_ids, error=Invalid), CALM)
    async with running(worker):
        await eventually(lambda: worker.tally.dead == len(event_ids))


async def error_of(redis: Redis, event_id: str) -> str | None:
    receipt = await Receipts(redis).read("default", event_id)
    assert receipt is not None
    return receipt.get("error")


async def test_letters_of_all_partitions_come_newest_first_page_by_page(redis: Redis) -> None:
    expected = [f"{partition}-{MOMENT + n // 2}-{n % 2}" for n in range(60) for partition in range(PARTITIONS)]
    for letter_id in expected:
        await laid(redis, letter_id)
    letters = dead_letters(redis, PARTITIONS)

    seen: list[str] = []
    last = None
    while page := await letters.newest(EVERY_TENANT, 7, last):
        seen += [str(letter.id) for letter in page]
        last = page[-1].id

    assert seen == expected[::-1]
    assert list(map(str, await letters.ids(EVERY_TENANT))) == expected


async def test_a_letter_tells_why_how_often_and_when_and_keeps_the_payload(redis: Redis) -> None:
    [letter_id] = await buried(redis, "bad")
    [(stream_id, original)] = await entries(redis, STREAM)

    letter = await dead_letters(redis).find(EVERY_TENANT, letter_id)

    assert letter is not None
    assert (letter.reason, letter.attempts, letter.group) == ("Invalid: cannot digest bad", 1, GROUP)
    assert (letter.stream, letter.stream_id) == (STREAM, stream_id)
    assert letter.first_seen == int(stream_id.split("-")[0]) <= letter.last_seen
    assert {name.decode(): value.decode() for name, value in letter.fields.items()} == original


async def test_a_redriven_letter_is_handled_and_its_receipt_has_no_error_any_more(redis: Redis) -> None:
    [letter_id] = await buried(redis, "bad")
    assert await error_of(redis, "bad") is not None

    assert await dead_letters(redis).redrive(EVERY_TENANT, [letter_id]) == {letter_id: "redriven"}

    assert await redis.xlen(DEAD) == 0
    assert await error_of(redis, "bad") is None
    ledger = Ledger()
    async with running(consumer(redis, ledger, CALM)):
        await eventually(lambda: ledger.done == ["bad"])
    assert ledger.attempts == [1]
    assert await pending(redis) == 0


async def test_redriving_again_doubles_nothing(redis: Redis) -> None:
    [letter_id] = await buried(redis, "bad")
    letters = dead_letters(redis)
    assert await letters.redrive(EVERY_TENANT, [letter_id, letter_id]) == {letter_id: "redriven"}
    assert await letters.redrive(EVERY_TENANT, [letter_id]) == {letter_id: "gone"}
    assert await redis.xlen(STREAM) == 2


async def test_two_operators_redriving_at_once_double_nothing(redis: Redis) -> None:
    ids = await buried(redis, *(f"e{number}" for number in range(10)))
    outcomes = await asyncio.gather(*(dead_letters(redis).redrive(EVERY_TENANT, ids) for _ in range(3)))
    assert sum(list(outcome.values()).count("redriven") for outcome in outcomes) == 10
    assert await redis.xlen(STREAM) == 20


async def test_a_redrive_whose_reply_was_lost_doubles_nothing(
    redis: Redis, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [letter_id] = await buried(redis, "bad")
    monkeypatch.setattr(connection, "REPLY_TIMEOUT_S", 0.1)
    sha = (await redis.script_load(script.load("redrive").text)).encode()
    async with proxy_to(urlsplit(redis_url).path) as proxy:
        # The client library repeats the call by itself; its first three replies never arrive.
        proxy.swallows = lambda request: sha in request and proxy.swallowed < 3
        async with open_producer(f"redis://127.0.0.1:{proxy.port}") as shaky:
            outcome = await dead_letters(shaky).redrive(EVERY_TENANT, [letter_id])
        assert proxy.swallowed == 3
    assert outcome == {letter_id: "gone"}
    assert (await redis.xlen(STREAM), await redis.xlen(DEAD)) == (2, 0)


async def test_a_redriven_letter_that_dies_again_knows_when_it_was_first_seen(redis: Redis) -> None:
    [letter_id] = await buried(redis, "bad")
    letters = dead_letters(redis)
    first = await letters.find(EVERY_TENANT, letter_id)
    assert first is not None
    for _ in range(2):
        await letters.redrive(EVERY_TENANT, await letters.ids(EVERY_TENANT))
        await bury_all(redis, "bad")
        [again] = await letters.newest(EVERY_TENANT, 10)
        assert (again.first_id, again.first_seen) == (first.stream_id, first.first_seen)
        assert again.stream_id != first.stream_id
        assert again.fields[b"event"] == first.fields[b"event"]
    assert await error_of(redis, "bad") is not None


async def test_a_stale_letter_is_not_written_back_over_a_newer_event_of_its_id(redis: Redis) -> None:
    """The id came free when the receipt expired, and the host used it for something else."""
    [letter_id] = await buried(redis, "bad")
    await redis.delete(keys.receipt("default", "bad"))
    [newer] = await producer(redis).accept([(turn("bad", text="corrected"), "other")])
    assert newer.status == "accepted"

    assert await dead_letters(redis).redrive(EVERY_TENANT, [letter_id]) == {letter_id: "superseded"}

    assert (await redis.xlen(STREAM), await redis.xlen(DEAD)) == (2, 1)


async def test_a_letter_without_receipt_is_redriven_and_no_receipt_appears(redis: Redis) -> None:
    [letter_id] = await buried(redis, "bad")
    await redis.delete(keys.receipt("default", "bad"))
    assert await dead_letters(redis).redrive(EVERY_TENANT, [letter_id]) == {letter_id: "redriven"}
    assert await Receipts(redis).read("default", "bad") is None


async def test_a_letter_of_a_later_stage_goes_back_to_that_stage(redis: Redis) -> None:
    await accept(redis, "bad")
    [(_, fields)] = await entries(redis, STREAM)
    await redis.xadd(keys.stored(0), dict[Any, Any](fields))
    gate = Consumer(redis, [keys.stored(0)], "gate", "gate-0", poison("bad", error=Invalid), CALM, system_clock)
    async with running(gate):
        await eventually(lambda: gate.tally.dead == 1)

    letters = dead_letters(redis)
    outcomes = await letters.redrive(EVERY_TENANT, await letters.ids(EVERY_TENANT))

    assert list(outcomes.values()) == ["redriven"]
    assert (await redis.xlen(STREAM), await redis.xlen(keys.stored(0))) == (1, 2)


async def test_an_unreadable_letter_may_be_redriven_for_a_worker_that_can_read_it(redis: Redis) -> None:
    await laid(redis, "0-5-0", event=b'{"v":2}')
    letter_id = LetterId.parse("0-5-0")
    assert await dead_letters(redis).redrive(EVERY_TENANT, [letter_id]) == {letter_id: "redriven"}
    [(_, fields)] = await entries(redis, STREAM)
    assert fields == {"event": '{"v":2}', "seq": "1", "first_id": "5-0"}


async def test_with_memory_short_the_letter_stays(redis: Redis) -> None:
    [letter_id] = await buried(redis, "bad")
    await redis.config_set("maxmemory", 1)
    try:
        with pytest.raises(Overloaded):
            await dead_letters(redis).redrive(EVERY_TENANT, [letter_id])
    finally:
        await redis.config_set("maxmemory", 0)
    assert (await redis.xlen(STREAM), await redis.xlen(DEAD)) == (1, 1)
    assert await error_of(redis, "bad") is not None


@pytest.mark.parametrize("scope", [TenantScope("b"), TenantScope("a", "another user")], ids=["tenant", "user"])
async def test_letters_of_others_cannot_be_seen_redriven_or_purged(redis: Redis, scope: AnyTenant) -> None:
    for number in range(120):
        await laid(redis, f"0-{MOMENT + number}-0", tenant="a")
    await laid(redis, f"0-{MOMENT + 500}-0", event=b"unreadable")
    letters = dead_letters(redis)
    theirs = await letters.ids(EVERY_TENANT)

    assert await letters.newest(scope, 200) == []
    assert await letters.ids(scope) == []
    assert await letters.find(scope, theirs[0]) is None
    assert set((await letters.redrive(scope, theirs)).values()) == {"gone"}
    assert await letters.purge(scope, theirs) == 0
    assert (await redis.xlen(DEAD), await redis.xlen(STREAM)) == (121, 0)


async def test_the_letters_of_a_tenant_are_found_among_those_of_others(redis: Redis) -> None:
    for number in range(130):
        await laid(redis, f"0-{MOMENT + number}-0", tenant="b" if number % 60 == 0 else "a")
    found = await dead_letters(redis).newest(TenantScope("b"), 2)
    assert [str(letter.id) for letter in found] == [f"0-{MOMENT + 120}-0", f"0-{MOMENT + 60}-0"]


async def test_purging_by_age_spares_the_younger_ones(redis: Redis) -> None:
    for second in range(4):
        await laid(redis, f"{second % PARTITIONS}-{MOMENT + second * 1000}-0")
    letters = dead_letters(redis, PARTITIONS)
    assert await letters.ids(EVERY_TENANT, buried_before_ms=-5) == []
    doomed = await letters.ids(EVERY_TENANT, buried_before_ms=MOMENT + 2000)
    assert await letters.purge(EVERY_TENANT, doomed) == 2
    assert [letter_id.buried.ms - MOMENT for letter_id in await letters.ids(EVERY_TENANT)] == [2000, 3000]


@asynccontextmanager
async def served(redis: Redis) -> AsyncIterator[str]:
    """The dead letters on a real port, as the operator without API keys sees them; yields the address."""
    letters = DeadLetters(redis, PARTITIONS, system_clock)
    app = create_app("test", [dead_letter_router(letters, Access.open(), system_clock)], 2**20)
    stop = asyncio.Event()
    with listen("127.0.0.1", 0) as listener:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(serve(app, listener, stop))
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            stop.set()


@pytest_asyncio.fixture
async def http(redis: Redis) -> AsyncIterator[httpx.AsyncClient]:
    async with served(redis) as url, httpx.AsyncClient(base_url=url) as client:
        yield client


async def test_http_lists_pages_and_shows_one(redis: Redis, http: httpx.AsyncClient) -> None:
    await laid(redis, "0-10-0")
    await laid(redis, "1-20-0", event=b"\xff{")
    first = (await http.get("/v1/dead-letters?limit=1")).json()
    second = (await http.get(f"/v1/dead-letters?limit=2&before={first['next']}")).json()
    shown = (await http.get("/v1/dead-letters/1-20-0")).json()

    assert [letter["id"] for letter in first["letters"] + second["letters"]] == ["1-20-0", "0-10-0"]
    assert second["next"] is None
    assert second["letters"][0]["event_id"] == "e0-10-0"
    assert (await http.get("/v1/dead-letters?tenant=nobody")).json()["letters"] == []
    [named] = (await http.get("/v1/dead-letters?tenant=default")).json()["letters"]
    assert named["id"] == "0-10-0"
    assert (shown["reason"], shown["event_id"], shown["payload"]) == ("bad", None, {"event": "\\xff{", "seq": "1"})


async def test_http_redrives_and_purges_what_is_chosen(redis: Redis, http: httpx.AsyncClient) -> None:
    for letter_id in ("0-10-0", "1-20-0", "1-30-0", "0-40-0"):
        await laid(redis, letter_id)
    chosen = {"ids": ["0-10-0", "1-99-0", "7-1-1"]}
    assert (await http.post("/v1/dead-letters:redrive", json=chosen)).json() == {
        "redriven": 1,
        "gone": ["1-99-0", "7-1-1"],
        "superseded": [],
    }
    assert (await http.post("/v1/dead-letters:purge", json={"ids": ["1-20-0"]})).json() == {"purged": 1}
    assert (await http.post("/v1/dead-letters:redrive", json={"all": True})).json()["redriven"] == 2
    assert [await redis.xlen(keys.turns(partition)) for partition in range(2)] == [2, 1]
    assert (await http.post("/v1/dead-letters:purge", json={"all": True})).json() == {"purged": 0}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "named"),
    [
        ("GET", "/v1/dead-letters/0-1-0", None, 404, "0-1-0"),
        ("GET", "/v1/dead-letters/nonsense", None, 422, "nonsense"),
        ("GET", "/v1/dead-letters?before=nonsense", None, 422, "nonsense"),
        ("GET", "/v1/dead-letters?before=0-0-0", None, 200, None),
        ("GET", "/v1/dead-letters?limit=0", None, 422, "limit"),
        ("POST", "/v1/dead-letters:redrive", {}, 422, "ids, all"),
        ("POST", "/v1/dead-letters:redrive", {"ids": ["x"]}, 422, "x"),
        ("POST", "/v1/dead-letters:purge", {"older_than_s": -1}, 422, "older_than_s"),
    ],
)
async def test_http_refuses_what_makes_no_sense(
    http: httpx.AsyncClient, method: str, path: str, body: Any, status: int, named: str | None
) -> None:
    answer = await http.request(method, path, json=body)
    assert answer.status_code == status
    assert named is None or named in answer.json()["detail"]


async def typed(url: str, *words: str, said: str = "") -> Result:
    """What a person types behind `lithify dlq`; the commands block, hence the thread."""
    return await asyncio.to_thread(lambda: CliRunner().invoke(dlq.app, [*words, "--url", url], input=said))


async def test_the_commands_of_an_operator(redis: Redis) -> None:
    await laid(redis, "0-10-0")
    await laid(redis, "1-20-0")
    async with served(redis) as url:
        listed = await typed(url, "list", "--limit", "1")
        assert "1-20-0" in listed.stdout
        assert "--before 1-20-0" in listed.stderr
        assert "hi" in (await typed(url, "show", "0-10-0")).stdout
        assert orjson.loads((await typed(url, "show", "0-10-0", "--json")).stdout_bytes)["attempts"] == 0
        assert "1 redriven" in (await typed(url, "redrive", "0-10-0")).stderr
        assert "redriven or purged before" in (await typed(url, "redrive", "0-10-0")).stderr
        assert orjson.loads((await typed(url, "redrive", "--all", "--json")).stdout_bytes)["redriven"] == 1
        assert "no dead letters" in (await typed(url, "list")).stderr


async def test_purging_from_the_terminal_asks_first(redis: Redis) -> None:
    await laid(redis, "0-10-0")
    await laid(redis, f"0-{system_clock()}-0")
    async with served(redis) as url:
        assert (await typed(url, "purge", "--all", said="n\n")).exit_code == 1
        assert await redis.xlen(DEAD) == 2
        assert "1 purged" in (await typed(url, "purge", "--older-than", "1d", "--yes")).stderr
        assert (await typed(url, "purge", "--all", said="y\n")).exit_code == 0
        assert await redis.xlen(DEAD) == 0


@pytest.mark.parametrize(
    "words", [("redrive",), ("purge", "--yes"), ("redrive", "0-1-0", "--all"), ("purge", "--older-than", "soon")]
)
async def test_the_terminal_refuses_to_guess_which_letters_are_meant(words: tuple[str, ...]) -> None:
    refused = await typed("http://127.0.0.1:1", *words)
    assert isinstance(refused.exception, Invalid)
