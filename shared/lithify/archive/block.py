"""The unit of durability: lines compressed together, behind a head that tells whether they arrived whole.

Head and footer are skippable frames in the sense of the zstd format, so that `zstdcat` prints the lines of a segment.
"""

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import zstandard

# Magic number of a skippable frame, size of what follows; then tag, length of the compressed lines, their number,
# the digest of the compressed lines, and a checksum of the head itself.
_HEAD: Final = struct.Struct("<II4sII16sI")
_MAGIC: Final = 0x184D2A5E
_TAG: Final = b"LFB1"
_START: Final = struct.pack("<II4s", _MAGIC, _HEAD.size - 8, _TAG)
_CHECKSUM: Final = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Block:
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
    return _signed(head) + compressed


def block_at(segment: bytes, offset: int, end: int) -> Block | None:
    """The block that starts there and lies whole before `end`."""
    if not _head_at(segment, offset):
        return None
    _, _, _, length, count, digest, _ = _HEAD.unpack_from(segment, offset)
    start = offset + _HEAD.size
    whole = start + length <= end and _digest(segment[start : start + length]) == digest
    return Block(offset, start + length, count) if whole else None


def next_head(segment: bytes, offset: int, end: int) -> int:
    """Where the next block claims to start, `end` if none does."""
    while (found := segment.find(_START, offset, end)) >= 0:
        if _head_at(segment, found):
            return found
        offset = found + 1
    return end


def _head_at(segment: bytes, offset: int) -> bool:
    head = segment[offset : offset + _HEAD.size]
    return head.startswith(_START) and len(head) == _HEAD.size and _signed(head) == head


def _signed(head: bytes) -> bytes:
    content = head[: -_CHECKSUM.size]
    return content + _CHECKSUM.pack(zlib.crc32(content))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
