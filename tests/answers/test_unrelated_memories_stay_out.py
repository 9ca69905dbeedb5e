"""A question that memory knows nothing about gets nothing, and a score says the same thing in every answer."""

import time
from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

BOAT = [
    "Bought a 1978 sloop last winter, she's called Petrel.",
    "The hull needs antifouling before Easter, the yard quoted 840.",
    "Engine is a Yanmar 1GM10, starts badly when it is cold.",
    "We keep her in the marina at Falmouth, berth C14.",
    "My crew is usually Tom and his daughter Isla.",
    "Tom gets seasick, so no overnight passages.",
    "The mainsail has a tear near the second batten.",
    "I want to replace the VHF radio before the summer.",
    "The depth sounder reads half a metre too deep.",
    "New fenders arrived today, blue ones.",
]
UNRELATED = [
    "What is the capital of Mongolia?",
    "qwertz zzz asdf nothing",
    "Explain the difference between TCP and UDP.",
    "How do vaccines work?",
]
KNOWN = {
    "What is my boat called?": "Petrel",
    "Where is the boat moored?": "Falmouth",
    "Who sails with me?": "Isla",
    "What engine do I have?": "Yanmar",
}


@pytest.fixture(scope="module")
def sailor(node: NodeProcess) -> str:
    # Forty turns, so that any list would be full.
    texts = [*BOAT, *(f"Log of day {day}: rain, stayed in port and read {day + 3} pages." for day in range(30))]
    turns = [
        {"event_id": f"boat-{place}", "user": "sailor", "session": f"s{place // 5}", "role": "user", "text": text}
        for place, text in enumerate(texts)
    ]
    assert node.post("/v1/turns:batch", {"turns": turns}).status_code == 202
    assert node.post("/v1/turns?wait=searchable", turns[-1]).status_code == 200
    # The gate may still promote some of them, and a memory that grows thinks less of its best.
    deadline = time.monotonic() + 60
    while node.http.get("/v1/status").json()["unfinished"] and time.monotonic() < deadline:
        time.sleep(0.2)
    return "sailor"


def assemble(node: NodeProcess, query: str, **more: Any) -> dict[str, Any]:
    body = {"user": "sailor", "session": "new", "query": query, "token_budget": 2000} | more
    answer: dict[str, Any] = node.post("/v1/assemble", body).json()
    return answer


def search(node: NodeProcess, query: str, **more: Any) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = node.post("/v1/search", {"user": "sailor", "query": query} | more).json()["hits"]
    return hits


@pytest.mark.parametrize("question", UNRELATED)
def test_nothing_is_injected_for_what_memory_does_not_know(node: NodeProcess, sailor: str, question: str) -> None:
    answer = assemble(node, question)
    assert (answer["blocks"], answer["tokens"]) == ([], 0)
    receipt = node.http.get(f"/v1/traces/{answer['trace_id']}").json()
    assert {row["verdict"] for row in receipt["considered"]} == {"weak"}


@pytest.mark.parametrize(("question", "told"), KNOWN.items())
def test_what_memory_knows_is_still_recalled(node: NodeProcess, sailor: str, question: str, told: str) -> None:
    assert told in assemble(node, question)["text"]


def test_who_asks_about_himself_gets_the_benefit_of_the_doubt(node: NodeProcess, sailor: str) -> None:
    """Not a word of the question was ever said; a few lines may still help, and a host may refuse them."""
    question = "Do I have a pet?"
    shown = [entry for block in assemble(node, question)["blocks"] for entry in block["entries"]]
    assert 0 < len(shown) <= 5
    assert all(entry["score"] < 0.1 for entry in shown)
    assert assemble(node, question, min_score=0.1)["blocks"] == []


def test_a_true_hit_scores_far_above_the_best_of_nonsense(node: NodeProcess, sailor: str) -> None:
    best = search(node, "What is my boat called?")[0]["score"]
    nonsense = max(hit["score"] for hit in search(node, "qwertz zzz asdf nothing"))
    assert 0.0 <= 4 * nonsense < best <= 1.0
    assert nonsense < 0.1 < best


def test_a_score_does_not_depend_on_how_much_is_asked_for(node: NodeProcess, sailor: str) -> None:
    question = "Where is the boat moored?"
    few, many = ({hit["event_id"]: hit["score"] for hit in search(node, question, limit=limit)} for limit in (3, 100))
    assert len(few) == 3
    assert {key: many[key] for key in few} == few
    for budget in (500, 2000, 8000):
        answer = assemble(node, question, token_budget=budget)
        shown = {e["event_id"]: e["score"] for block in answer["blocks"] for e in block["entries"]}
        assert shown
        assert {key: many[key] for key in shown} == shown


def test_hosts_choose_their_own_floor(node: NodeProcess, sailor: str) -> None:
    question = "Where is the boat moored?"
    hits = search(node, question, limit=100)
    middle = sorted(hit["score"] for hit in hits)[len(hits) // 2]
    kept = search(node, question, limit=100, min_score=middle)
    assert [hit["id"] for hit in kept] == [hit["id"] for hit in hits if hit["score"] >= middle]
    assert assemble(node, question, min_score=1.0)["blocks"] == []
    everything = assemble(node, "What is the capital of Mongolia?", min_score=0.0)
    assert len(everything["blocks"][0]["entries"]) > 10
