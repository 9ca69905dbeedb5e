"""A turn is checked once, at the edge."""

from typing import Any

import pytest
from pydantic import ValidationError

from lithify.events import TurnInput
from lithify.events.turn import MAX_META_BYTES, MAX_TEXT_CHARS, depth_of

GOOD: dict[str, Any] = {"event_id": "e1", "user": "u", "session": "s", "role": "user", "text": "hello"}


def test_a_minimal_turn_is_accepted() -> None:
    assert TurnInput.model_validate(GOOD).joined_text() == "hello"


def test_textual_parts_are_joined_by_line_breaks() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image", "url": "x"}, {"type": "input_text", "text": "b "}]
    turn = TurnInput.model_validate({k: v for k, v in GOOD.items() if k != "text"} | {"parts": parts})
    assert turn.joined_text() == "a\nb"


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
    ],
)
def test_a_bad_field_is_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TurnInput.model_validate(GOOD | change)
    assert caught.value.errors()[0]["loc"][0] == field


@pytest.mark.parametrize("change", [{"text": ""}, {"text": " \n\t"}, {"text": None}, {"parts": []}])
def test_a_turn_must_say_something(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="text"):
        TurnInput.model_validate(GOOD | change)


def test_depth_survives_hostile_nesting() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    assert depth_of(value) == 100_000
