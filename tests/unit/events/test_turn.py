"""A turn is checked once, at the edge."""

from typing import Any

import pytest
from pydantic import ValidationError

from lithify.events import TurnInput
from lithify.events.event import event_from_turn, turn_digest
from lithify.events.turn import (
    MAX_CALLS,
    MAX_MESSAGE_DEPTH,
    MAX_META_BYTES,
    MAX_PARTS,
    MAX_TEXT_CHARS,
    depth_of,
)

CALL = {"type": "function", "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'}}
GOOD: dict[str, Any] = {"event_id": "e1", "user": "u", "session": "s", "role": "user", "text": "hello"}


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_a_minimal_turn_is_accepted() -> None:
    assert TurnInput.model_validate(GOOD).as_utterance() == ("user", "hello")


def test_textual_parts_are_joined_by_line_breaks() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image", "url": "x"}, {"type": "input_text", "text": "b "}]
    turn = TurnInput.model_validate({k: v for k, v in GOOD.items() if k != "text"} | {"parts": parts})
    assert turn.as_utterance() == ("user", "a\nb")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"event_id": None}, "event_id"),
        ({"event_id": ""}, "event_id"),
        ({"event_id": "x" * 257}, "event_id"),
        ({"event_id": "a\nb"}, "event_id"),
        ({"user": 7}, "user"),
        ({"session": "  "}, "session"),
        ({"role": "wizard"}, "role"),
        ({"text": "x" * (MAX_TEXT_CHARS + 1)}, "text"),
        ({"text": "\ud800"}, "text"),
        ({"ts": -1}, "ts"),
        ({"ts": 10**15}, "ts"),
        ({"seq": -1}, "seq"),
        ({"seq": 2**53}, "seq"),
        ({"meta": {"k": "x" * MAX_META_BYTES}}, "meta"),
        ({"meta": {"a": {"b": {"c": {"d": {"e": {"f": {"g": 1}}}}}}}}, "meta"),
        ({"surprise": 1}, "surprise"),
        ({"text": None, "content": 5}, "content"),
        ({"text": None, "content": {"type": "text", "text": "x"}}, "content"),
        ({"text": None, "content": "x" * (MAX_TEXT_CHARS + 1)}, "content"),
        ({"text": None, "content": ["x"] * (MAX_PARTS + 1)}, "content"),
        ({"text": None, "parts": [{"type": "text", "text": "x" * (MAX_TEXT_CHARS // 2)}] * 2}, "parts"),
        ({"text": None, "content": nested(MAX_MESSAGE_DEPTH + 1)}, "content"),
        ({"tool_calls": [{"a": nested(MAX_MESSAGE_DEPTH)}]}, "tool_calls"),
        ({"tool_calls": [{}] * (MAX_CALLS + 1)}, "tool_calls"),
    ],
)
def test_a_bad_field_is_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TurnInput.model_validate(GOOD | change)
    assert caught.value.errors()[0]["loc"][0] == field


@pytest.mark.parametrize(
    "change",
    [{"text": ""}, {"text": " \n\t"}, {"text": None}, {"parts": []}, {"text": None, "content": [{"type": "image"}]}],
)
def test_a_turn_must_say_something(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="text"):
        TurnInput.model_validate(GOOD | change)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": None, "content": "hello"}, ("user", "hello")),
        ({"role": "developer"}, ("system", "hello")),
        ({"role": "function", "name": "weather", "content": "21", "text": None}, ("tool", "21")),
        ({"role": "assistant", "text": "", "tool_calls": [CALL]}, ("tool", 'weather({"city": "Lisbon"})')),
        ({"role": "assistant", "text": None, "tool_calls": [CALL]}, ("tool", 'weather({"city": "Lisbon"})')),
        ({"role": "assistant", "text": "I look.", "tool_calls": [CALL]}, ("assistant", "I look.")),
        ({"text": None, "parts": [{"type": "tool_result", "content": "21"}]}, ("tool", "21")),
    ],
)
def test_messages_are_taken_as_hosts_have_them(change: dict[str, Any], said: tuple[str, str]) -> None:
    turn = TurnInput.model_validate(GOOD | change)
    assert turn.as_utterance() == said
    event = event_from_turn(turn, "t", 0)
    assert (event.role, event.text) == said


def test_calls_of_any_number_and_size_keep_the_limit_of_a_text() -> None:
    call = {"name": "n" * 1_000_000, "input": {"file": "y" * 1_000_000}}
    turn = TurnInput.model_validate(GOOD | {"text": None, "tool_calls": [call] * MAX_CALLS})
    assert len(turn.as_utterance().text) <= MAX_TEXT_CHARS


def test_a_fingerprint_sees_what_is_said_and_not_how_it_is_wrapped() -> None:
    def digest(**change: Any) -> str:
        return turn_digest(TurnInput.model_validate(GOOD | {"text": None} | change))

    part = {"type": "text", "text": "hello"}
    assert digest(parts=[part]) == digest(parts=[part | {"cache_control": {"type": "ephemeral"}}])
    assert digest(parts=[part]) != digest(parts=[part | {"text": "hallo"}])
    assert digest(content="hello") == digest(content="hello", name="ada")
    assert digest(content="hello") != digest(content="hallo")
    assert digest(tool_calls=[CALL]) != digest(tool_calls=[{"function": {"name": "trams"}}])
    # Accepted by an earlier release; a retry must find it.
    assert digest(parts=[part]) == "f448e8b819f384a91663553799bec725"
    assert digest(text="hello") == "ac72b1c46d3dc8b51b187f7379304165"


def test_depth_survives_hostile_nesting() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    assert depth_of(value) == 100_000
