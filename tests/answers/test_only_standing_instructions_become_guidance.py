"""A command for once never comes back as advice; a standing instruction does, until another one retires it (D2-1)."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

START = 1_700_000_000_000
SAID = [
    "Delete the staging database.",
    "Write me a haiku about the staging database.",
    "No idea what you mean with the staging database.",
    "Always answer in English.",
    "From now on answer in German.",
    "Never deploy the staging database on a Friday.",
]
COMMANDS = SAID[:3]
UNRELATED = "How tall is Mount Everest in metres?"


def say(node: NodeProcess, user: str, texts: list[str], session: str = "ops") -> None:
    for place, text in enumerate(texts):
        turn = {"user": user, "session": session, "role": "user", "text": text, "event_id": f"{user}-{session}-{place}"}
        answer = node.post("/v1/turns?wait=searchable", turn | {"ts": START + place * 60_000})
        assert answer.json()["searchable"], answer.text
    node.wait_drained()


def list_guidance(node: NodeProcess, user: str) -> list[dict[str, Any]]:
    body = {"user": user, "query": "staging database answer", "limit": 20, "filters": {"kinds": ["guidance"]}}
    hits: list[dict[str, Any]] = node.post("/v1/search", body).json()["hits"]
    return hits


def ask(node: NodeProcess, user: str, query: str, **more: Any) -> dict[str, Any]:
    body = {"user": user, "session": "next-week", "query": query, "token_budget": 2000} | more
    answer = node.post("/v1/assemble", body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def advice(answer: dict[str, Any]) -> list[str]:
    return [entry["text"] for block in answer["blocks"] if "guidance" in block["name"] for entry in block["entries"]]


def forget(node: NodeProcess, memory_id: str, user: str) -> None:
    answer = node.http.delete(f"/v1/memories/{memory_id}", params={"user": user})
    assert answer.is_success, answer.text
    deadline = time.monotonic() + 60
    while node.http.get(f"/v1/memories/{memory_id}").status_code != 404:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_an_instruction_holds_in_the_next_session_and_commands_do_not(node: NodeProcess) -> None:
    say(node, "wim", SAID)
    answer = ask(node, "wim", "What should I do with the staging database?")
    assert advice(answer) == [SAID[4], SAID[5]]
    assert "<elevated_guidance>\nUntrusted: " in answer["text"]


def test_what_bears_on_every_answer_is_shown_whatever_is_asked(node: NodeProcess) -> None:
    say(node, "sam", ["Please call me Sam from now on.", SAID[5]])
    answer = ask(node, "sam", UNRELATED)
    assert advice(answer) == ["Please call me Sam from now on."]
    assert answer["tokens"] <= 2000
    assert advice(ask(node, "sam", "")) == ["Please call me Sam from now on."]


def test_instructions_are_listed_and_a_contrary_one_retires_the_earlier(node: NodeProcess) -> None:
    say(node, "vera", SAID)
    found = {hit["text"]: hit["superseded_by"] for hit in list_guidance(node, "vera")}
    assert set(found) == set(SAID[3:])
    assert found[SAID[3]] is not None
    assert found[SAID[4]] is None
    assert advice(ask(node, "vera", UNRELATED)) == [SAID[4]]


def test_compaction_makes_no_second_copy(node: NodeProcess) -> None:
    chatter = [f"The staging database was busy at {hour} o'clock, as on most days." for hour in range(1, 9)]
    say(node, "xenia", [*SAID, *chatter])
    before = {hit["id"]: hit["superseded_by"] for hit in list_guidance(node, "xenia")}
    assert len(before) == 3
    job = node.post("/v1/sessions/ops/compact", {"user": "xenia", "force": True})
    assert job.is_success, job.text
    deadline = time.monotonic() + 60
    while node.http.get("/v1/sessions/ops/compact", params={"user": "xenia"}).json()["status"] != "finished":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert {hit["id"]: hit["superseded_by"] for hit in list_guidance(node, "xenia")} == before


def test_a_forgotten_instruction_is_gone_and_what_it_retired_holds_again(node: NodeProcess) -> None:
    say(node, "yara", SAID[3:5])
    [later] = [hit for hit in list_guidance(node, "yara") if hit["text"] == SAID[4]]
    forget(node, later["id"], "yara")
    assert [hit["text"] for hit in list_guidance(node, "yara")] == [SAID[3]]
    assert advice(ask(node, "yara", UNRELATED)) == [SAID[3]]


def test_an_instruction_that_the_prompt_shows_anyway_is_not_repeated(node: NodeProcess) -> None:
    say(node, "zoe", ["From now on call me Captain."])
    answer = ask(node, "zoe", UNRELATED, session="ops")
    assert advice(answer) == []
    assert answer["text"].count("call me Captain") == 1


@pytest.fixture(scope="module")
def silent_node(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(tmp_path_factory.mktemp("silent") / "data", models_dir, LITHIFY_GUIDANCE="off")
    node.start()
    yield node
    node.close()


def test_a_setting_switches_guidance_off(silent_node: NodeProcess) -> None:
    say(silent_node, "wim", SAID)
    assert list_guidance(silent_node, "wim") == []
    assert advice(ask(silent_node, "wim", "What should I do with the staging database?")) == []
