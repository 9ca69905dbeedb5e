"""Entries become deliveries, or say why they cannot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lithify.errors import Invalid
from lithify.events import Event, encode_event
from lithify.streams.delivery import Entry, decode, portions

EVENT = Event("e1", "default", "u", "s", "user", "hello", ts=1)


def entry(fields: dict[bytes, bytes]) -> Entry:
    return Entry("lithify:turns:{0}", "1-0", fields, attempt=1)


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


@given(st.lists(st.integers(0, 30)), st.integers(1, 40))
def test_portions_keep_order_and_never_exceed_the_bytes_unless_alone(sizes: list[int], limit: int) -> None:
    entries = [entry({b"event": b"x" * size}) for size in sizes]

    split = list(portions(entries, limit))

    assert [item for portion in split for item in portion] == entries
    assert all(sum(item.size for item in portion) <= limit or len(portion) == 1 for portion in split)


def test_portions_are_not_smaller_than_need_be() -> None:
    entries = [entry({b"event": b"x" * 10}) for _ in range(6)]
    assert [len(portion) for portion in portions(entries, 30)] == [3, 3]
