"""A command for once never comes back as advice; a standing instruction does, until another one retires it (D2-1)."""

import time
from typing import Any

from tests.integration.node_process import NodeProcess

DAY = 86_400_000
START = 1_700_000_000_000
SAID = [
    "Delete the staging database.",
    "Write me a haiku about the staging database.",
    "No idea what you mean with the staging database.",
    "Always answer in English.",
    "From now on answer in German.",
    "Never deploy the staging database on a Friday.",
]


def talk(node: NodeProcess, user: str) -> None:
    chatter = [f"The staging database was busy at {hour} o'clock, as on most days." for hour in range(1, 9)]
    for place, text in enumerate([*SAID, *chatter]):
        turn = {"user": user, "session": "ops", "role": "user", "text": text, "event_id": f"{user}-{place}"}
        answer = node.post("/v1/turns?wait=searchable", turn | {"ts": START + place * 60_000})
        assert answer.json()["searchable"], answer.text
    node.wait_drained()
    assert node.post("/v1/sessions/ops/compact", {"user": user, "force": True}).status_code < 300


def guidance(node: NodeProcess, user: str) -> dict[str, dict[str, Any]]:
    body = {"user": user, "query": "staging database answer", "limit": 20, "filters": {"kinds": ["guidance"]}}
    return {hit["text"]: hit for hit in node.post("/v1/search", body).json()["hits"]}


def wait_for_guidance(node: NodeProcess, user: str) -> dict[str, dict[str, Any]]:
    deadline = time.monotonic() + 60
    while not (found := guidance(node, user)) and time.monotonic() < deadline:
        node.wait_drained()
    return found


def test_standing_instructions_are_listed_and_commands_are_not(node: NodeProcess) -> None:
    talk(node, "vera")
    found = wait_for_guidance(node, "vera")
    assert set(found) <= {"Always answer in English.", "From now on answer in German.", SAID[5]}
    assert SAID[5] in found
    assert found["Always answer in English."]["superseded_by"] is not None
    assert found["From now on answer in German."]["superseded_by"] is None


def test_a_command_of_last_week_is_no_advice_for_this_one(node: NodeProcess) -> None:
    talk(node, "wim")
    wait_for_guidance(node, "wim")
    question = {"user": "wim", "session": "next-week", "query": "What should I do with the staging database?"}
    answer = node.post("/v1/assemble", question | {"token_budget": 2000}).json()
    advice = [entry["text"] for block in answer["blocks"] if "guidance" in block["name"] for entry in block["entries"]]
    assert "Delete the staging database." not in advice
    assert "Always answer in English." not in advice
