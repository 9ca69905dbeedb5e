"""A prompt from which the model can tell time: every line has its day, or its minute, and its speaker."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

DAY_MS = 86_400_000
NOW = int(datetime(2026, 11, 18, 12, tzinfo=UTC).timestamp() * 1000)
LINE = re.compile(r"\[([TME])\d+ (\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2})?) (user|assistant|tool)\] .+")
SAID = [
    ("d1", "old", "user", "Yesterday I went to the dentist in Lisbon.", 40),
    ("d2", "old", "assistant", "I hope the dentist was kind to you.", 40),
    ("d3", "now", "user", "Good morning!", 0),
    ("d4", "now", "assistant", "Good morning, how can I help?", 0),
]


@pytest.fixture(scope="module")
def answer(node: NodeProcess) -> dict[str, Any]:
    for event_id, session, role, text, days in SAID:
        turn = {"event_id": event_id, "user": "ada", "session": session, "role": role, "text": text}
        assert node.post("/v1/turns", turn | {"ts": NOW - days * DAY_MS}).is_success
    node.wait_drained()
    asked = {
        "user": "ada",
        "session": "now",
        "query": "When did I go to the dentist?",
        "token_budget": 1000,
        "now": NOW,
    }
    found: dict[str, Any] = node.post("/v1/assemble", asked).json()
    return found


def test_every_line_of_tail_and_recall_has_its_date_and_its_speaker(answer: dict[str, Any]) -> None:
    lines = [line for line in answer["text"].splitlines() if line.startswith("[")]
    assert len(lines) == 4
    assert all(map(LINE.fullmatch, lines))
    assert "[M1 2026-10-09 user] Yesterday I went to the dentist in Lisbon." in lines
    assert "[T1 2026-11-18 12:00 user] Good morning!" in lines


def test_yesterday_can_be_read_against_today(answer: dict[str, Any]) -> None:
    assert "Today is 2026-11-18." in answer["text"]


def test_entries_say_the_same_as_data(node: NodeProcess, answer: dict[str, Any]) -> None:
    [tail, recalled] = [block["entries"] for block in answer["blocks"]]
    assert [(e["event_id"], e["session"], e["role"], e["ts"]) for e in recalled] == [
        ("d1", "old", "user", NOW - 40 * DAY_MS),
        ("d2", "old", "assistant", NOW - 40 * DAY_MS),
    ]
    # A turn worth keeping is recalled as the durable memory made of it.
    assert all(entry["kind"] in ("turn", "memory") for entry in recalled)
    assert [(e["event_id"], e["session"], e["kind"], e["ts"]) for e in tail] == [
        ("d3", "now", "turn", NOW),
        ("d4", "now", "turn", NOW),
    ]
    for entry in (*tail, *recalled):
        assert node.http.get(f"/v1/memories/{entry['memory_id']}").json()["text"] == entry["text"]
