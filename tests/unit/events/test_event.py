"""Events survive the stream unchanged, and nothing else gets through."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lithify.errors import Invalid
from lithify.events import Event, TurnInput, decode_event, encode_event
from lithify.events.event import event_from_turn, turn_digest

BODY: dict[str, Any] = {"event_id": "e1", "user": "u", "session": "s", "role": "user", "text": "hello"}
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(words, words, st.integers(0, 2**40), st.none() | st.integers(0, 99))
def test_envelope_round_trip(event_id: str, text: str, ts: int, seq: int | None) -> None:
    event = Event(event_id, "t", "u", "s", "user", text, ts, seq, meta={"k": [1, None]})
    assert decode_event(encode_event(event)) == event


def test_what_a_turn_replaces_travels_with_it() -> None:
    older = "6f9619ff-8b86-4d11-b42d-00c04fc964ff"
    for named in (older, f"memories::{older}"):
        event = event_from_turn(TurnInput.model_validate(BODY | {"supersedes": named}), "t", 1)
        assert decode_event(encode_event(event)).supersedes == older


def test_counted_seq_fills_only_a_missing_one() -> None:
    event = Event("e", "t", "u", "s", "user", "x", 1)
    assert decode_event(encode_event(event), seq=7).seq == 7
    assert decode_event(encode_event(Event("e", "t", "u", "s", "user", "x", 1, seq=3)), seq=7).seq == 3


def test_unknown_fields_of_a_newer_producer_are_ignored() -> None:
    raw = orjson.loads(encode_event(Event("e", "t", "u", "s", "user", "x", 1))) | {"novel": True}
    assert decode_event(orjson.dumps(raw)).event_id == "e"


@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        b"[]",
        b"{}",
        b'{"v":2}',
        b'{"v":1,"event_id":"e"}',
        b'{"v":1,"event_id":7,"tenant":"t","user":"u","session":"s","role":"user","text":"x","ts":1}',
        b'{"v":1,"event_id":"e","tenant":"t","user":"u","session":"s","role":"user","text":"","ts":1}',
        b'{"v":1,"event_id":"e","tenant":"t","user":"u","session":"s","role":"user","text":"x","ts":"1"}',
    ],
)
def test_a_broken_envelope_is_invalid(data: bytes) -> None:
    with pytest.raises(Invalid):
        decode_event(data)


def test_a_retry_has_the_same_digest_whatever_the_clock_says() -> None:
    turn, again = TurnInput.model_validate(BODY), TurnInput.model_validate(BODY | {"traceparent": "00-a-b-01"})
    assert event_from_turn(turn, "t", 1).ts != event_from_turn(turn, "t", 2).ts
    assert turn_digest(turn) == turn_digest(again)


@pytest.mark.parametrize("change", [{"text": "bye"}, {"session": "other"}, {"ts": 5}, {"meta": {"a": 1}}])
def test_other_content_has_another_digest(change: dict[str, Any]) -> None:
    assert turn_digest(TurnInput.model_validate(BODY)) != turn_digest(TurnInput.model_validate(BODY | change))
