"""What the model sees anyway takes no place among the memories: older facts on the same topic still come."""

from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

FACTS = [
    "The mizzen mast of the Halcyon was cut from a single spruce near Umeå.",
    "We rebuilt the galley of the Halcyon with a diesel stove from Refleks.",
    "The keel of the Halcyon weighs eleven tonnes and was recast in 2019.",
    "On the Halcyon the spare anchor lies under the forward bunk.",
    "The sails of the Halcyon were sewn by Berit Aune in Trondheim.",
    "The insurance of the Halcyon runs out every February.",
]
QUESTION = "Tell me everything you know about the Halcyon."


def send(node: NodeProcess, turns: list[dict[str, Any]]) -> None:
    for start in range(0, len(turns), 50):
        assert node.post("/v1/turns:batch", {"turns": turns[start : start + 50]}).status_code == 202
    assert node.post("/v1/turns?wait=searchable", turns[-1]).status_code == 200


def talk(user: str) -> list[dict[str, Any]]:
    """Sixty turns of today, each of which fits the question better than most of the facts."""
    return [
        {
            "event_id": f"{user}-now-{place}",
            "user": user,
            "session": "now",
            "role": "assistant" if place % 2 else "user",
            "text": f"Tell me about the Halcyon again, everything you know about the Halcyon, part {place}.",
        }
        for place in range(60)
    ]


@pytest.mark.parametrize("named", [True, False], ids=["messages with ids", "messages without ids"])
def test_facts_of_older_sessions_come_beside_sixty_shown_messages(node: NodeProcess, *, named: bool) -> None:
    user = f"skipper-{named}"
    old = [
        {"event_id": f"{user}-old-{place}", "user": user, "session": f"old-{place}", "role": "user", "text": text}
        for place, text in enumerate(FACTS)
    ]
    turns = talk(user)
    send(node, old)
    send(node, turns)
    ids = [{"id": turn["event_id"]} if named else {} for turn in turns]
    messages = [
        {"role": turn["role"], "content": turn["text"], **shown} for turn, shown in zip(turns, ids, strict=True)
    ]
    body = {"user": user, "session": "now", "messages": messages, "query": QUESTION, "token_budget": 2000}
    answer = node.post("/v1/assemble", body).json()
    recalled = [
        e["text"] for block in answer["blocks"] if block["name"] == "recalled_memories" for e in block["entries"]
    ]
    assert sorted(recalled) == sorted(FACTS)
    assert answer["degraded"] == []
