"""The newest turns are what people said: heartbeats are no part of them, and tool output is a line among them."""

from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

TALK = [
    ("user", "Please book the ferry to Hiiumaa for Friday."),
    ("assistant", "For how many people?"),
    ("user", "For three, and the dog."),
    ("assistant", "I will look at the timetable."),
]


def send(node: NodeProcess, user: str, *turns: dict[str, str]) -> None:
    for turn in turns:
        assert node.post("/v1/turns", {"user": user, "session": "s"} | turn).status_code in (200, 202)
    node.wait_drained()


def talk(user: str) -> list[dict[str, str]]:
    return [{"event_id": f"{user}-{n}", "role": role, "text": text} for n, (role, text) in enumerate(TALK)]


def ask(node: NodeProcess, user: str) -> dict[str, Any]:
    asked = {"user": user, "session": "s", "query": "Is the ferry booked?", "token_budget": 2000}
    answer: dict[str, Any] = node.post("/v1/assemble", asked).json()
    return answer


def tail_of(answer: dict[str, Any]) -> list[tuple[str, str]]:
    [tail] = [block["entries"] for block in answer["blocks"] if block["name"] == "recent_session_tail"]
    return [(entry["role"], entry["text"]) for entry in tail]


def test_ten_heartbeats_do_not_become_the_tail(node: NodeProcess) -> None:
    beats = [
        {"event_id": f"beat-{n}", "role": "user", "text": f"ping {n}", "source_kind": "heartbeat"} for n in range(10)
    ]
    send(node, "sailor", *talk("sailor"), *beats)
    answer = ask(node, "sailor")
    assert tail_of(answer) == TALK
    assert "ping" not in answer["text"]
    assert answer["degraded"] == []


@pytest.mark.parametrize("results", [1, 9, 70])
def test_tool_output_neither_breaks_the_budget_nor_pushes_out_what_people_said(node: NodeProcess, results: int) -> None:
    user = f"agent-{results}"
    row = '{"ship": "Leiger", "from": "Rohuküla", "to": "Heltermaa", "free": true},\n'
    tools = [{"event_id": f"{user}-tool-{n}", "role": "tool", "text": row * 850} for n in range(results)]
    assert len(tools[0]["text"]) > 60_000
    send(node, user, *talk(user), *tools)
    answer = ask(node, user)
    assert answer["tokens"] <= 2000
    tail = tail_of(answer)
    assert tail[:4] == TALK
    lines = [text for role, text in tail[4:] if role == "tool"]
    assert len(lines) == min(4, results)
    assert all("\n" not in line and "[…]" in line for line in lines)
    assert f"{len(lines)} of the newest turns shown as excerpt" in answer["degraded"]
    assert (results <= 4) == (not any("of the tool results" in reason for reason in answer["degraded"]))
