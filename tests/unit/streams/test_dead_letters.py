"""Dead letters are read as they were buried, and shown to those they belong to."""

import pytest

from lithify.errors import Invalid
from lithify.events import EVERY_TENANT, AnyTenant, Event, TenantScope, encode_event
from lithify.streams import LetterId, keys
from lithify.streams.letter import read_letter
from lithify.streams.progress import StreamId

EVENT = Event("e1", "acme", "ada", "s", "user", "hello", ts=1)
ID = LetterId(StreamId(1_700, 2), 3)
RAW = {
    b"event": encode_event(EVENT),
    b"seq": b"4",
    b"dead_stream": b"lithify:stored:{3}",
    b"dead_group": b"gate",
    b"dead_id": b"1500-0",
    b"dead_reason": b"ValueError: no",
    b"dead_attempts": b"5",
    b"dead_first_seen": b"1500",
    b"dead_last_seen": b"1700",
}


def test_a_letter_keeps_the_original_apart_from_what_burying_added() -> None:
    letter = read_letter(ID, RAW)
    assert letter.fields == {b"event": encode_event(EVENT), b"seq": b"4"}
    assert (letter.reason, letter.attempts, letter.first_seen, letter.last_seen) == ("ValueError: no", 5, 1500, 1700)
    assert (letter.stream, letter.group, letter.stream_id) == ("lithify:stored:{3}", "gate", "1500-0")
    assert letter.event is not None
    assert (letter.event.event_id, letter.event.seq) == ("e1", 4)


def test_a_letter_without_marks_goes_back_to_the_turns_of_its_partition() -> None:
    letter = read_letter(ID, {b"event": b"\xff", b"dead_attempts": b"many"})
    assert (letter.stream, letter.attempts, letter.event) == (keys.turns(3), 0, None)


@pytest.mark.parametrize(
    ("scope", "readable", "unreadable"),
    [
        (EVERY_TENANT, True, True),
        (TenantScope("acme"), True, False),
        (TenantScope("acme", "ada"), True, False),
        (TenantScope("acme", "bob"), False, False),
        (TenantScope("other"), False, False),
    ],
)
def test_a_letter_belongs_to_its_tenant_and_an_unreadable_one_to_the_operator(
    scope: AnyTenant, readable: bool, unreadable: bool
) -> None:
    assert read_letter(ID, RAW).belongs_to(scope) is readable
    assert read_letter(ID, RAW | {b"event": b"{"}).belongs_to(scope) is unreadable


def test_ids_survive_being_written_down() -> None:
    assert str(ID) == "3-1700-2"
    assert LetterId.parse(str(ID)) == ID


@pytest.mark.parametrize("text", ["", "1-2", "a-1-2", "1-2-3-4", "-1-2-3", "1-2-99999999999999999999", "1-2-3\n"])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="id"):
        LetterId.parse(text)


def test_ids_are_ordered_by_burial_whatever_the_partition() -> None:
    assert LetterId.parse("0-9-10") > LetterId.parse("7-9-9") > LetterId.parse("6-9-9")
