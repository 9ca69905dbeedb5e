"""A host that asks for so many tokens gets no more, whatever was said last."""

from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

PASTES = {
    "prose": "I copied the whole report so that you can read what the auditors wrote about us. " * 900,
    "log": "".join(
        f"2026-11-18T09:{n % 60:02}:00Z WARN pump[{n}] pressure={n % 13}.{n % 10} bar\n" for n in range(1500)
    ),
    "chinese": "我们昨天在港口看到了一艘很旧的船，没有人知道它是谁的。" * 1100,
}
BUDGETS = (120, 500, 2000, 6000)


@pytest.mark.parametrize("kind", PASTES)
def test_a_newest_turn_of_70_kilobytes_stays_inside_the_budget(node: NodeProcess, kind: str) -> None:
    user = f"auditor of {kind}"
    texts = ["Hello, I am Ines.", "Hello Ines.", PASTES[kind], "I have read it."]
    for place, text in enumerate(texts):
        turn = {"event_id": f"{user}-{place}", "user": user, "session": "s", "text": text}
        turn |= {"role": "assistant" if place % 2 else "user"}
        assert node.post("/v1/turns", turn).is_success
    assert len(PASTES[kind].encode()) >= 70_000
    node.wait_drained()
    for budget in BUDGETS:
        answer = ask(node, user, budget)
        assert answer["tokens"] <= budget
        assert not answer["over_budget"]
        assert answer["degraded"]
    assert "I have read it." in answer["text"]
    assert "Hello, I am Ines." in answer["text"]
    cut = [entry for entry in answer["blocks"][0]["entries"] if entry["excerpt"]]
    assert [entry["event_id"] for entry in cut] == [f"{user}-2"]
    assert "[…]" in cut[0]["text"]


def ask(node: NodeProcess, user: str, budget: int) -> dict[str, Any]:
    asked = {"user": user, "session": "s", "query": "What do you think of it?", "token_budget": budget}
    answer: dict[str, Any] = node.post("/v1/assemble", asked).json()
    return answer
