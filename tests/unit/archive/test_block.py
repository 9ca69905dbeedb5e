"""A line gives back exactly the event that was accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lithify.archive import decode_line, encode_line
from lithify.archive.block import read_stream_id
from lithify.errors import Invalid
from lithify.events import Event, encode_event
from lithify.streams.progress import StreamId
from tests.unit.archive.archive_parts import STREAM

words = st.text(min_size=1).filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text))


@given(text=words, tenant=words, seq=st.none() | st.integers(0, 2**53))
def test_any_event_comes_back_from_its_line(text: str, tenant: str, seq: int | None) -> None:
    event = Event("e", tenant, "u", "s", "user", text, ts=5, seq=seq, meta={"event": ',"event":{}'})
    line = encode_line(STREAM, "7-1", seq, encode_event(event))
    assert line.data.count(b"\n") == 1
    archived = decode_line(line.data)
    assert (archived.event, archived.stream, archived.stream_id) == (event, STREAM, StreamId(7, 1))


def test_the_position_counted_on_acceptance_is_kept() -> None:
    line = encode_line(STREAM, "7-1", 42, encode_event(Event("e", "t", "u", "s", "user", "x", ts=5)))
    assert decode_line(line.data).event.seq == 42


def test_an_envelope_with_line_breaks_stays_one_line() -> None:
    envelope = b'{"v":1,\r\n"event_id":"e","tenant":"t","user":"u",\n"session":"s","role":"user","text":"a\\nb","ts":5}'
    line = encode_line(STREAM, "7-1", None, envelope)
    assert line.data.splitlines(keepends=True) == [line.data]
    assert decode_line(line.data).event.text == "a\nb"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}\n",
        b"not json\n",
        b'{"stream":"s","id":"1-0","seq":1}\n',
        b'{"stream":"s","id":"1-0","seq":1,"event":{"v":2}}\n',
        b'{"stream":"s","event":{"v":1}}\n',
    ],
)
def test_a_line_of_something_else_is_refused(data: bytes) -> None:
    with pytest.raises(Invalid):
        decode_line(data)


def test_the_stream_id_is_readable_though_the_event_is_of_a_newer_release() -> None:
    line = encode_line(STREAM, "9-3", 1, b'{"v":99}')
    assert read_stream_id(line.data) == StreamId(9, 3)
    with pytest.raises(Invalid, match="version 99"):
        decode_line(line.data)
