"""In the form `split` the stable part is byte for byte the same, whatever is asked, by whom, where and when."""

import uuid
from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

DAY = 86_400_000
NOW = 1_790_000_000_000
RULES = "# Rules\n\n- Answer in full sentences.\n\n> You should prefer metric units.\n"
INSTRUCTIONS = ("Always call me Captain.", "From now on, give every price in euros.")
FACT = "My boat Albatross lies at pier seven in Kiel."
QUESTIONS = ("Where does my boat lie?", "How much is the mooring fee?", "What is the capital of Mongolia?", "")


@pytest.fixture(scope="module", autouse=True)
def rules(node: NodeProcess) -> None:
    assert node.http.put("/v1/authored/AGENTS.md", json={"text": RULES}).is_success


def instruct(node: NodeProcess, user: str, text: str, ts: int) -> None:
    """Keeps a standing instruction as an earlier conversation left it."""
    source = uuid.uuid4().hex
    record = {
        "id": str(uuid.uuid4()),
        "kind": "guidance",
        "scope": "user",
        "user": user,
        "session": "earlier",
        "role": "user",
        "event_id": source,
        "text": text,
        "ts": ts,
        "active": True,
        "embedding": "anew",
    }
    answer = node.post("/v1/import", {"records": [record]})
    assert answer.is_success, answer.text


def say(node: NodeProcess, user: str, session: str, text: str) -> None:
    turn = {"user": user, "session": session, "role": "user", "text": text, "event_id": uuid.uuid4().hex}
    assert node.post("/v1/turns?wait=searchable", turn).json()["searchable"]


def ask(node: NodeProcess, user: str, query: str, **more: Any) -> dict[str, Any]:
    body = {"user": user, "session": "now", "query": query, "token_budget": 1500, "form": "split"} | more
    answer = node.post("/v1/assemble", body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_stable_part_depends_on_rules_and_instructions_alone(node: NodeProcess) -> None:
    for place, text in enumerate(INSTRUCTIONS):
        instruct(node, "ute", text, NOW - 10 * DAY + place)
    say(node, "ute", "then", FACT)
    first = ask(node, "ute", QUESTIONS[0])
    assert "full sentences" in first["stable"]
    assert all(text in first["stable"] for text in INSTRUCTIONS)

    answers = [ask(node, "ute", question) for question in QUESTIONS]
    answers += [ask(node, "ute", QUESTIONS[0], session="elsewhere"), ask(node, "ute", QUESTIONS[0], now=NOW + 90 * DAY)]
    say(node, "ute", "now", "Call me Captain when you write the letter. " * 40)
    answers += [
        ask(node, "ute", QUESTIONS[0]),
        ask(node, "ute", QUESTIONS[0], messages=[{"role": "user", "content": "x"}]),
    ]
    assert {answer["stable"] for answer in answers} == {first["stable"]}


def test_the_fresh_part_has_what_was_asked_for_and_no_word_of_the_stable_one(node: NodeProcess) -> None:
    instruct(node, "vera", INSTRUCTIONS[0], NOW)
    say(node, "vera", "then", FACT)
    say(node, "vera", "now", "Good morning, is anybody there?")
    answer = ask(node, "vera", QUESTIONS[0])
    assert answer["text"] == ""
    assert "pier seven" in answer["fresh"]
    assert "anybody there" in answer["fresh"]
    assert "full sentences" not in answer["fresh"]
    assert "Captain" not in answer["fresh"]
    assert 0 < answer["tokens"] <= 1500
    named = [block["name"] for block in answer["blocks"]]
    assert named[:2] == ["authored_context", "elevated_guidance"]
    assert set(named[2:]) == {"recent_session_tail", "recalled_memories"}
    trace = node.http.get(f"/v1/traces/{answer['trace_id']}").json()
    assert len(trace["hard_rules"]) + len(trace["soft_rules"]) == 2
    assert len(trace["guidance"]) == 1


def test_a_new_instruction_is_added_at_the_end(node: NodeProcess) -> None:
    instruct(node, "wim", INSTRUCTIONS[0], NOW - DAY)
    before = ask(node, "wim", "")["stable"]
    instruct(node, "wim", INSTRUCTIONS[1], NOW)
    after = ask(node, "wim", "")["stable"]
    kept = before[: before.index("</elevated_guidance>")]
    assert after.startswith(kept)
    assert INSTRUCTIONS[1] in after[len(kept) :]


def test_instructions_keep_their_share_and_the_whole_keeps_the_budget(node: NodeProcess) -> None:
    for place in range(40):
        instruct(
            node, "xaver", f"Always mention harbour number {place} when I ask about tides and lights.", NOW + place
        )
    say(node, "xaver", "now", "Long ago " + "we sailed on and on, " * 400)
    for budget in (0, 60, 150, 400, 1500):
        answer = ask(node, "xaver", "tides and lights", token_budget=budget)
        assert answer["tokens"] <= budget or answer["degraded"]
    assert "harbour number 39" in answer["stable"]
    assert "harbour number 0 " not in answer["stable"]
