"""The unit of durability: lines compressed together, behind a head that tells whether they arrived whole.

Head and footer are skippable frames in the sense of the zstd format, so that `zstdcat` prints the lines of a segment.
"""

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
import zstandard

from lithify.errors import Invalid
from lithify.events import Event, decode_event
from lithify.streams.progress import StreamId

# Stands before the envelope. The parts before it are a key name, an id and a number, which cannot contain it.
_ENVELOPE: Final = b',"event":'
# To JSON a bare line break is white space; inside a string it is always escaped.
_ONE_LINE: Final = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True, slots=True)
class ArchiveLine:
    """`data` ends with its line break."""

    stream_id: StreamId
    data: bytes


@dataclass(frozen=True, slots=True)
class ArchivedEvent:
    stream: str
    stream_id: StreamId
    event: Event


def encode_line(stream: str, stream_id: str, seq: int | None, envelope: bytes) -> ArchiveLine:
    """Makes a line; the envelope is kept byte by byte, save that line breaks between its tokens become blanks."""
    head = orjson.dumps({"stream": stream, "id": stream_id, "seq": seq})
    data = b"".join((head[:-1], _ENVELOPE, envelope.translate(_ONE_LINE), b"}\n"))
    return ArchiveLine(StreamId.parse(stream_id), data)


def decode_line(data: bytes) -> ArchivedEvent:
    """Reads a line. Raises Invalid for one that this release cannot read."""
    head, _, envelope = data.rstrip(b"\n").partition(_ENVELOPE)
    place = _place(head)
    stream_id = StreamId.parse(place["id"])
    return ArchivedEvent(place["stream"], stream_id, decode_event(envelope[:-1], place["seq"], stream_id.ms))


def read_stream_id(data: bytes) -> StreamId:
    """Reads where a line was accepted, without looking at the event: a newer release may have written it."""
    return StreamId.parse(_place(data.partition(_ENVELOPE)[0])["id"])


def _place(head: bytes) -> dict[str, Any]:
    try:
        place = orjson.loads(head + b"}")
    except orjson.JSONDecodeError as error:
        raise Invalid(f"the line does not say where its event was accepted: {error}") from error
    if missing := {"stream", "id", "seq"} - place.keys():
        raise Invalid(f"the line lacks {', '.join(sorted(missing))}")
    return dict(place)


# Magic number of a skippable frame, size of what follows; then tag, length of the compressed lines, their number,
# the digest of the compressed lines, and a checksum of the head itself.
_HEAD: Final = struct.Struct("<II4sII16sI")
_MAGIC: Final = 0x184D2A5E
_TAG: Final = b"LFB1"
_START: Final = struct.pack("<II4s", _MAGIC, _HEAD.size - 8, _TAG)
_CHECKSUM: Final = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class ArchiveBlock:
    """A block that is whole; offsets in its segment."""

    offset: int
    end: int
    count: int

    def lines(self, segment: bytes) -> list[bytes]:
        text = zstandard.ZstdDecompressor().decompress(segment[self.offset + _HEAD.size : self.end])
        return text.splitlines(keepends=True)


def encode_block(lines: Sequence[bytes]) -> bytes:
    compressed = zstandard.ZstdCompressor(write_checksum=True).compress(b"".join(lines))
    head = _HEAD.pack(_MAGIC, _HEAD.size - 8, _TAG, len(compressed), len(lines), _digest(compressed), 0)
    return _sign(head) + compressed


def block_at(segment: bytes, offset: int, end: int) -> ArchiveBlock | None:
    """Returns the block that starts there, if it lies whole before `end`."""
    if not _head_at(segment, offset):
        return None
    _, _, _, length, count, digest, _ = _HEAD.unpack_from(segment, offset)
    start = offset + _HEAD.size
    whole = start + length <= end and _digest(segment[start : start + length]) == digest
    return ArchiveBlock(offset, start + length, count) if whole else None


def next_head(segment: bytes, offset: int, end: int) -> int:
    """Returns where the next block claims to start, `end` if none does."""
    while (found := segment.find(_START, offset, end)) >= 0:
        if _head_at(segment, found):
            return found
        offset = found + 1
    return end


def _head_at(segment: bytes, offset: int) -> bool:
    head = segment[offset : offset + _HEAD.size]
    return head.startswith(_START) and len(head) == _HEAD.size and _sign(head) == head


def _sign(head: bytes) -> bytes:
    content = head[: -_CHECKSUM.size]
    return content + _CHECKSUM.pack(zlib.crc32(content))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
