"""One long turn is shown as an excerpt: it neither silences other memories nor hides the fact inside it."""

from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

PASTE = "".join(f"In run {n} the oil temperature of the gearbox rose to {60 + n % 40} degrees. " for n in range(1100))
MINUTES = "Then we went through the open points of the week, and nobody had anything to add to them. "
FACT = "The spare key of the boathouse hangs behind the blue oilskin."


def send(node: NodeProcess, user: str, *texts: str) -> None:
    for place, text in enumerate(texts):
        turn = {"event_id": f"{user}-{place}", "user": user, "session": f"s{place}", "role": "user", "text": text}
        assert node.post("/v1/turns", turn).is_success
    node.wait_drained()


def ask(node: NodeProcess, user: str, query: str, budget: int) -> dict[str, Any]:
    asked = {"user": user, "session": "now", "query": query, "token_budget": budget}
    answer: dict[str, Any] = node.post("/v1/assemble", asked).json()
    return answer


@pytest.mark.parametrize("budget", [1000, 2000])
def test_memories_beside_a_paste_of_70_kilobytes_are_shown(node: NodeProcess, budget: int) -> None:
    assert len(PASTE) > 70_000
    user = f"mechanic-{budget}"
    send(
        node,
        user,
        PASTE,
        "The gearbox of the tractor was rebuilt by Henning in March.",
        "We fill the gearbox with 80W-90 oil and nothing else.",
    )
    answer = ask(node, user, "What do you know about the oil temperature of the gearbox?", budget)
    assert answer["tokens"] <= budget
    assert "rebuilt by Henning" in answer["text"]
    assert "80W-90" in answer["text"]
    [block] = answer["blocks"]
    assert [entry["event_id"] for entry in block["entries"] if entry["excerpt"]] == [f"{user}-0"]
    assert "1 of the memories shown as excerpt" in answer["degraded"]


def test_a_fact_inside_a_long_turn_is_shown_with_what_stands_around_it(node: NodeProcess) -> None:
    long = MINUTES * 70 + FACT + " " + MINUTES * 70
    assert len(long) > 12_000
    send(node, "warden", long)
    answer = ask(node, "warden", "Where is the spare key of the boathouse?", 1500)
    assert answer["tokens"] <= 1500
    assert FACT in answer["text"]
    [entry] = answer["blocks"][0]["entries"]
    assert entry["excerpt"]
    assert entry["text"].startswith("[…]")
    assert node.http.get(f"/v1/memories/{entry['memory_id']}").json()["text"].strip() == long.strip()
