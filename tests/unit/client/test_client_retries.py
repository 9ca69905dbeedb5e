"""Outages are waited out with the same event id, refusals are not, and a host may ask not to be disturbed by either."""

import httpx
import orjson
import pytest

from lithify.client import Accepted, Context, Memory, Missing, Refused, SearchResult, retry
from lithify.client.retry import LONGEST_S, pauses, wait_s
from lithify.errors import Conflict, LithifyError, Overloaded, Unavailable
from tests.unit.client.client_parts import ACCEPTED, KINDS, TURN, Service, ask, problem

AWAY = httpx.ConnectError("refused")
MESSAGES = [{"role": "user", "content": "hi"}]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_S", 0.0)
    monkeypatch.setattr(retry, "LONGEST_S", 0.001)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("failure", [AWAY, httpx.ReadTimeout("late"), problem(503), problem(500), problem(429)])
async def test_every_try_of_a_turn_carries_the_same_id(kind: str, failure: httpx.Response | Exception) -> None:
    service = Service(failure, failure, httpx.Response(202, json=ACCEPTED))
    answer = await ask(kind, service, "ingest", **TURN)
    assert answer == Accepted("e", "accepted", "1-0", 1)
    sent = [orjson.loads(request.content)["event_id"] for request in service.asked]
    assert len(sent) == 3
    assert len(set(sent)) == 1
    assert sent[0]


@pytest.mark.parametrize("kind", KINDS)
async def test_every_try_of_a_batch_carries_the_same_ids(kind: str) -> None:
    done = {"accepted": 2, "duplicate": 0, "rejected": 0, "results": []}
    service = Service(AWAY, httpx.Response(202, json=done))
    await ask(kind, service, "ingest_batch", [TURN, TURN | {"event_id": "mine"}])
    first, second = [[turn["event_id"] for turn in orjson.loads(r.content)["turns"]] for r in service.asked]
    assert first == second
    assert first[1] == "mine"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tries", [1, 3])
async def test_an_outage_that_lasts_is_told_after_the_last_try(kind: str, tries: int) -> None:
    service = Service(AWAY)
    with pytest.raises(Unavailable, match="no Lithify at http://lithify"):
        await ask(kind, service, "receipt", "e", options={"tries": tries})
    assert len(service.asked) == tries


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("status", "error"),
    [(400, Refused), (401, Refused), (403, Refused), (404, Missing), (409, Conflict), (413, Refused), (422, Refused)],
)
async def test_a_refusal_is_told_at_once_in_the_words_of_the_service(
    kind: str, status: int, error: type[LithifyError]
) -> None:
    service = Service(problem(status))
    with pytest.raises(error, match=f"{status} .*the reason") as told:
        await ask(kind, service, "ingest", **TURN, options={"fails_soft": True})
    assert len(service.asked) == 1
    assert getattr(told.value, "status", status) == status


@pytest.mark.parametrize("kind", KINDS)
async def test_a_client_that_fails_soft_gives_the_messages_back_and_says_why_there_is_no_memory(kind: str) -> None:
    soft = {"fails_soft": True, "tries": 2}
    asked = {"user": "ada", "session": "s", "token_budget": 100, "messages": MESSAGES}
    context = await ask(kind, Service(AWAY), "assemble", **asked, options=soft)
    assert (context.text, context.tokens, context.messages) == ("", 0, tuple(MESSAGES))
    assert isinstance(context, Context)
    assert "no Lithify" in context.degraded[0]
    found = await ask(kind, Service(problem(503)), "search", "x", options=soft)
    assert found == SearchResult(degraded=("503 Service Unavailable: the reason",))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_turn_that_could_not_be_sent_softly_says_so_and_keeps_its_id(kind: str) -> None:
    unsent = await ask(kind, Service(AWAY), "ingest", **TURN, event_id="mine", options={"fails_soft": True})
    assert (unsent.event_id, unsent.status, unsent.stream_id) == ("mine", "unsent", None)
    assert "no Lithify" in unsent.reason


@pytest.mark.parametrize("kind", KINDS)
async def test_what_has_no_harmless_answer_is_raised_even_softly(kind: str) -> None:
    with pytest.raises(Unavailable):
        await ask(kind, Service(AWAY), "receipt", "e", options={"fails_soft": True})


def test_pauses_grow_and_differ_and_are_one_less_than_the_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_S", 0.2)
    drawn = [list(pauses(4)) for _ in range(50)]
    for number, middle in enumerate((0.2, 0.4, 0.8)):
        column = [row[number] for row in drawn]
        assert middle / 2 <= min(column) < max(column) <= middle * 1.5
    assert {len(row) for row in drawn} == {3}
    assert list(pauses(1)) == []


def test_a_service_that_asks_for_time_gets_it_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "LONGEST_S", LONGEST_S)
    assert wait_s(0.2, Unavailable()) == 0.2
    assert wait_s(0.2, Overloaded("full", 3)) == 3
    assert wait_s(0.2, Overloaded("full", 3_600)) == LONGEST_S


@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("soon", 5), ("", 5)])
async def test_the_time_to_wait_is_read_from_the_answer(header: str, seconds: int) -> None:
    with pytest.raises(Overloaded) as told:
        await ask("blocking", Service(problem(429, **{"retry-after": header})), "status", options={"tries": 1})
    assert told.value.retry_after_s == seconds


def test_a_client_tries_at_least_once() -> None:
    with pytest.raises(ValueError, match="tries"):
        Memory(tries=0)
