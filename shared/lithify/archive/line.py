"""One archived event as a JSON line: its exact envelope, and where it was accepted."""

from dataclasses import dataclass
from typing import Any, Final

import orjson

from lithify.errors import Invalid
from lithify.events import Event, decode_event
from lithify.streams.progress import StreamId

# Stands before the envelope. The parts before it are a key name, an id and a number, which cannot contain it.
_ENVELOPE: Final = b',"event":'
# To JSON a bare line break is white space; inside a string it is always escaped.
_ONE_LINE: Final = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True, slots=True)
class Line:
    """`data` ends with its line break."""

    stream_id: StreamId
    data: bytes


@dataclass(frozen=True, slots=True)
class ArchivedEvent:
    stream: str
    stream_id: StreamId
    event: Event


def encode_line(stream: str, stream_id: str, seq: int | None, envelope: bytes) -> Line:
    """The envelope is kept byte by byte, save that line breaks between its tokens become blanks."""
    head = orjson.dumps({"stream": stream, "id": stream_id, "seq": seq})
    data = b"".join((head[:-1], _ENVELOPE, envelope.translate(_ONE_LINE), b"}\n"))
    return Line(StreamId.parse(stream_id), data)


def decode_line(data: bytes) -> ArchivedEvent:
    """Raises Invalid for a line this release cannot read."""
    head, _, envelope = data.rstrip(b"\n").partition(_ENVELOPE)
    place = _place(head)
    return ArchivedEvent(place["stream"], StreamId.parse(place["id"]), decode_event(envelope[:-1], place["seq"]))


def stream_id_of(data: bytes) -> StreamId:
    """Without looking at the event, which a newer release may have written."""
    return StreamId.parse(_place(data.partition(_ENVELOPE)[0])["id"])


def _place(head: bytes) -> dict[str, Any]:
    try:
        place = orjson.loads(head + b"}")
    except orjson.JSONDecodeError as error:
        raise Invalid(f"the line does not say where its event was accepted: {error}") from error
    if missing := {"stream", "id", "seq"} - place.keys():
        raise Invalid(f"the line lacks {', '.join(sorted(missing))}")
    return dict(place)
