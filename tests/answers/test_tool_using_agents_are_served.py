"""Histories with calls and results of tools, as the APIs of models make them, are taken and come back as they were."""

from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

OPENAI: list[dict[str, Any]] = [
    {"role": "developer", "content": "You plan trips."},
    {"role": "user", "content": "Which tram goes to Belem, and will it rain there on Friday?", "name": "ada"},
    {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "annotations": [],
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Belem"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": '{"rain": 0.9, "wind": "Force 12 over the Baltic"}'},
]
RESPONSES: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "input_text", "text": "Which tram goes to Belem?"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x=="},
    {"type": "function_call", "call_id": "c1", "name": "trams", "arguments": "{}", "status": "completed"},
    {"type": "function_call_output", "call_id": "c1", "output": "Force 12 over the Baltic"},
]
ANTHROPIC: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": [{"type": "text", "text": "Which tram goes to Belem?", "cache_control": {"type": "x"}}],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I need the tool.", "signature": "sig"},
            {"type": "tool_use", "id": "toolu_1", "name": "trams", "input": {"to": "Belem", "when": [1, 2.5, None]}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "is_error": False,
                "content": [
                    {"type": "text", "text": "Force 12 over the Baltic"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBOR"}},
                ],
            }
        ],
    },
]
HISTORIES = {"openai": OPENAI, "responses": RESPONSES, "anthropic": ANTHROPIC}
FACT = "Tram 15 goes to Belem from the square at the river."
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Lisbon"}'}}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_tool_using_agent_gets_memory_and_its_messages_back_untouched(node: NodeProcess, name: str) -> None:
    user = f"trip-{name}"
    told = {"user": user, "session": "then", "role": "assistant", "text": FACT, "event_id": f"fact-{name}"}
    assert node.post("/v1/turns?wait=searchable", told).status_code == 202

    question = {"user": user, "session": "now", "token_budget": 1000, "messages": HISTORIES[name]}
    answer = node.post("/v1/assemble", question)

    assert answer.status_code == 200, answer.text
    assert answer.json()["messages"] == HISTORIES[name]
    # The question is the user's, not what a tool answered last.
    assert "Tram 15" in answer.json()["text"]


@pytest.mark.parametrize(
    "said",
    [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "assistant", "text": "", "tool_calls": [CALL]},
        {
            "role": "assistant",
            "parts": [{"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Lisbon"}}],
        },
    ],
)
def test_a_turn_that_is_only_a_tool_call_stands_in_the_conversation(node: NodeProcess, said: dict[str, Any]) -> None:
    session = f"calls-{len(said)}-{'text' in said}"
    first = {"user": "uwe", "session": session, "role": "user", "text": "Is it warm there?", "event_id": f"{session}-1"}
    result = {"role": "tool", "tool_call_id": "c1", "content": "21 degrees", "event_id": f"{session}-3"}
    asked = {"user": "uwe", "session": session, "event_id": f"{session}-2"}
    assert node.post("/v1/turns", first).status_code == 202
    accepted = node.post("/v1/turns?wait=searchable", asked | said)
    assert accepted.status_code == 202, accepted.text
    # It never becomes memory, and says so in its receipt.
    assert accepted.json()["searchable"] is False
    assert "tool" in node.http.get(f"/v1/receipts/{session}-2").json()["ignored"]
    assert node.post("/v1/turns", asked | result).status_code == 202
    assert node.post("/v1/turns", asked | said).json()["status"] == "duplicate"

    answer = node.post(
        "/v1/assemble", {"user": "uwe", "session": session, "query": "And?", "token_budget": 1000}
    ).json()
    assert "weather(" in answer["text"]
    assert "Lisbon" in answer["text"]
    assert "21 degrees" in answer["text"]


def test_an_empty_turn_is_still_refused_by_name(node: NodeProcess) -> None:
    empty = {"user": "uwe", "session": "s", "role": "assistant", "content": None, "event_id": "empty"}
    answer = node.post("/v1/turns", empty)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "text"


def test_a_turn_in_parts_keeps_the_limit_of_one_in_words(node: NodeProcess) -> None:
    piece = {"type": "text", "text": "x" * 150_000}
    for field in ("parts", "content"):
        long = {"user": "uwe", "session": "s", "role": "user", field: [piece, piece], "event_id": f"long-{field}"}
        answer = node.post("/v1/turns", long)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == field


def test_a_message_nested_beyond_reason_is_refused_by_name(node: NodeProcess) -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    question = {"user": "uwe", "session": "s", "token_budget": 100, "messages": [{"role": "user", "content": deep}]}
    answer = node.post("/v1/assemble", question)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "messages.0"
