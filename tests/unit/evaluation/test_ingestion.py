"""What is sent to the gateway, and when it counts as stored."""

from pathlib import Path

import httpx
import pytest

from lithify.client import BatchResult, Memory
from lithify.client.results import BatchItem, FieldError
from lithify.errors import Invalid, Unavailable
from lithify.evaluation import run as ingestion
from lithify.evaluation.datasets import load_dataset
from lithify.evaluation.run import make_turns, refuse_rejected, wait_until_stored
from lithify.events.turn import TurnInput
from tests.unit.evaluation.made_files import prepared


def draining(*unfinished: int, dead: int = 0) -> Memory:
    """A client of a node whose queues drain as told, and then stay."""
    left = list(unfinished)

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/v1/status"
        waiting = left.pop(0) if len(left) > 1 else left[0]
        return httpx.Response(200, json={"unfinished": waiting, "dead_letters": dead})

    return Memory(transport=httpx.MockTransport(answer))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingestion, "POLL_S", 0.0)
    monkeypatch.setattr(ingestion, "STALLED_S", 0.0)


def test_every_turn_is_one_the_gateway_accepts(tmp_path: Path) -> None:
    conversation = load_dataset("locomo", prepared(tmp_path)).conversations[0]
    turns = [TurnInput.model_validate(body) for body in make_turns(conversation)]
    assert [turn.user for turn in turns] == ["c1"] * 3
    assert [turn.event_id for turn in turns] == ["c1:D1:1", "c1:D1:2", "c1:D2:1"]


def test_a_refused_turn_stops_the_evaluation() -> None:
    conflict = BatchItem(index=1, event_id="e", status="conflict")
    with pytest.raises(Invalid, match=r"'e' was refused \(conflict\)"):
        refuse_rejected(BatchResult(0, 0, 1, (conflict,)))
    empty = BatchItem(0, "e", "invalid", errors=(FieldError("text", "must not be empty"),))
    with pytest.raises(Invalid, match="text: must not be empty"):
        refuse_rejected(BatchResult(0, 0, 1, (empty,)))


@pytest.mark.usefixtures("quick")
def test_waiting_ends_when_nothing_is_unfinished() -> None:
    seen: list[tuple[str, int, int]] = []
    with draining(3, 1, 0) as memory:
        wait_until_stored(memory, 2, lambda *told: seen.append(told))
    assert seen == [("ingest", 0, 2), ("ingest", 1, 2), ("ingest", 2, 2)]


@pytest.mark.usefixtures("quick")
def test_a_queue_that_stands_still_is_told() -> None:
    with draining(3) as memory, pytest.raises(Unavailable, match="3 deliveries have been waiting"):
        wait_until_stored(memory, 2, lambda *_: None)


@pytest.mark.usefixtures("quick")
def test_turns_that_were_given_up_are_told() -> None:
    with draining(0, dead=2) as memory, pytest.raises(Unavailable, match="2 turns were given up"):
        wait_until_stored(memory, 2, lambda *_: None)
