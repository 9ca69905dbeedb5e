"""Entries become deliveries, or say why they cannot."""

import pytest

from lithify.errors import Invalid
from lithify.events import Event, encode_event
from lithify.streams.delivery import StreamEntry, decode

EVENT = Event("e1", "default", "u", "s", "user", "hello", ts=1)


def entry(fields: dict[bytes, bytes]) -> StreamEntry:
    return StreamEntry("lithify:turns:{0}", "1-0", fields, attempt=1)


def test_the_counted_position_fills_the_missing_one() -> None:
    assert decode(entry({b"event": encode_event(EVENT), b"seq": b"7"})).event.seq == 7


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "no field 'event'"),
        ({b"event": b"{"}, "not JSON"),
        ({b"event": b'{"v":2}'}, "version 2"),
        ({b"event": encode_event(EVENT), b"seq": b"-1"}, "seq"),
        ({b"event": encode_event(EVENT), b"seq": b"x"}, "seq"),
    ],
)
def test_an_unreadable_entry_is_invalid_and_says_why(fields: dict[bytes, bytes], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        decode(entry(fields))
