"""What the gate made durable stands for the turn it came from, takes one place with it, and lasts (D2-9)."""

import time
from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

FACTS = (
    "I run a small pottery studio in Bristol, and since Monday I have a new electric kiln.",
    "My sister Odile lives in Lyon and teaches geography.",
    "I decided to sell the old gas kiln before the summer.",
    "My favourite glaze is celadon, fired at 1240 degrees.",
    "We are moving the pottery studio to Gloucester Road in March.",
)
SMALL_TALK = ("ok thanks, sounds good", "hm", "haha yes", "one moment", "all right then", "bye")
QUESTION = "Where is my pottery studio?"


@pytest.fixture(scope="module", autouse=True)
def _told(node: NodeProcess) -> None:
    for place, text in enumerate((*FACTS, *SMALL_TALK)):
        turn = {"user": "iris", "session": "s1", "role": "user", "text": text, "event_id": f"iris-{place}"}
        assert node.post("/v1/turns?wait=searchable", turn).json()["searchable"]
    node.wait_drained()
    assert node.http.get("/v1/receipts/iris-0").json()["promoted"]


def search(node: NodeProcess, **more: Any) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = node.post("/v1/search", {"user": "iris", "query": QUESTION} | more).json()["hits"]
    return hits


def shown(node: NodeProcess) -> list[dict[str, Any]]:
    body = {"user": "iris", "session": "s2", "query": QUESTION, "token_budget": 2000}
    blocks = node.post("/v1/assemble", body).json()["blocks"]
    return [entry for block in blocks for entry in block["entries"]]


def kinds_of(rows: list[dict[str, Any]], event_id: str) -> list[str]:
    return [row["kind"] for row in rows if row["event_id"] == event_id]


def test_a_durable_memory_stands_for_its_turn(node: NodeProcess) -> None:
    assert kinds_of(search(node), "iris-0") == ["memory"]
    assert kinds_of(shown(node), "iris-0") == ["memory"]


def test_copies_take_no_places(node: NodeProcess) -> None:
    places = [hit["event_id"] for hit in search(node, limit=5)]
    assert len(places) == 5
    assert len(set(places)) == 5


def test_it_stands_before_the_turn_when_both_kinds_are_asked_for(node: NodeProcess) -> None:
    [memory, *_] = search(node, filters={"kinds": ["memory", "turn"]})
    assert memory["kind"] == "memory"
    turns = [hit["event_id"] for hit in search(node, filters={"kinds": ["turn"]})]
    assert memory["event_id"] in turns


def test_it_lasts_when_its_turn_is_compacted(node: NodeProcess) -> None:
    assert node.post("/v1/sessions/s1/compact", {"user": "iris", "force": True}).is_success
    deadline = time.monotonic() + 60
    while node.http.get("/v1/sessions/s1/compact", params={"user": "iris"}).json()["status"] != "finished":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert kinds_of(search(node), "iris-0") == ["memory"]
    assert kinds_of(shown(node), "iris-0") == ["memory"]
