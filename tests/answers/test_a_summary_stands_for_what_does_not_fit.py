"""Where a small budget has no room for all turns of a conversation, its summary stands for the rest (D2-12)."""

import time
from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

SAID = (
    "The cedar hull of the canoe is finally glued, it took eleven clamps and most of Saturday.",
    "For the canoe I bought ash for the gunwales because it bends without steaming.",
    "I sanded the canoe hull with 120 grit, then 180, and my arms still hurt.",
    "The first coat of epoxy on the canoe went cloudy, the garage was too cold at night.",
    "I borrowed a heater from Piet so that the epoxy on the canoe can cure at twenty degrees.",
    "The canoe's seat frames are cut; I will weave them with cord instead of cane.",
    "I ordered brass stem bands for the canoe, they should come from Vermont in three weeks.",
    "The thwarts of the canoe are walnut, a gift from my neighbour's old table.",
    "The canoe weighs twenty-six kilos so far, one more than I hoped for.",
    "I named the canoe Heron and painted the name on the bow in dark green.",
    "For the canoe's first trip I want to paddle the lake from the north landing.",
    "The canoe rack on the car is too narrow, I must widen it by a hand.",
    "I oiled the canoe's walnut thwarts and ash gunwales with tung oil, three coats.",
    "The canoe leaked a little at the stern, so I added a strip of glass cloth.",
    "The paddles for the canoe are carved from one plank of cherry, both of them.",
    "Launching the canoe is planned with Piet and his daughter, with soup afterwards.",
)
QUESTION = "What did I say about the paddles, the thwarts and the launch of the canoe?"


@pytest.fixture(scope="module", autouse=True)
def _told(node: NodeProcess) -> None:
    for place, text in enumerate((*SAID, "ok", "fine", "thanks", "bye then")):
        turn = {"user": "nele", "session": "boat", "role": "user", "text": text, "event_id": f"nele-{place}"}
        assert node.post("/v1/turns?wait=searchable", turn).json()["searchable"]
    node.wait_drained()
    assert node.post("/v1/sessions/boat/compact", {"user": "nele", "force": True}).is_success
    deadline = time.monotonic() + 60
    while not (summaries := search_summaries(node)) and time.monotonic() < deadline:
        node.wait_drained()
    assert summaries


def search_summaries(node: NodeProcess) -> list[dict[str, Any]]:
    body = {"user": "nele", "query": "canoe", "filters": {"kinds": ["summary"]}}
    hits: list[dict[str, Any]] = node.post("/v1/search", body).json()["hits"]
    return hits


def ask(node: NodeProcess, budget: int) -> dict[str, Any]:
    body = {"user": "nele", "session": "later", "query": QUESTION, "token_budget": budget}
    answer: dict[str, Any] = node.post("/v1/assemble", body).json()
    assert answer["tokens"] <= budget
    return answer


def recalled(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for block in answer["blocks"] if block["name"] == "recalled_memories" for entry in block["entries"]]


def test_a_small_budget_shows_the_best_turns_and_a_summary_of_the_others(node: NodeProcess) -> None:
    answer = ask(node, 300)
    kinds = [entry["kind"] for entry in recalled(answer)]
    assert kinds.count("summary") == 1
    assert len(kinds) > 2
    assert " summary] " in answer["text"]
    assert any("told by their summary" in reason for reason in answer["degraded"])
    receipt = node.http.get(f"/v1/traces/{answer['trace_id']}").json()
    verdicts = {row["id"]: row["verdict"] for row in receipt["considered"]}
    assert [row["verdict"] for row in receipt["considered"] if row["kind"] == "summary"] == ["injected"]
    assert sum(verdict == "summarised" for verdict in verdicts.values()) >= 2
    assert {verdicts[entry["id"]] for entry in recalled(answer)} == {"injected"}


def test_a_budget_that_holds_all_turns_needs_no_summary(node: NodeProcess) -> None:
    answer = ask(node, 4000)
    assert {entry["event_id"] for entry in recalled(answer)} >= {f"nele-{place}" for place in range(len(SAID) - 4)}
    assert "summary" not in {entry["kind"] for entry in recalled(answer)}
