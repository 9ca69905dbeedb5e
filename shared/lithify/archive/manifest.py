"""The footer of a sealed segment: how much is in it, from when to when, and the digest of every byte before."""

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import orjson

from lithify.streams.progress import StreamId

# A skippable zstd frame whose content ends with length and digest of the JSON before, so that it is found from the end.
_FRAME: Final = struct.Struct("<II")
_TAIL: Final = struct.Struct("<I16s4s")
_MAGIC: Final = 0x184D2A5F
_TAG: Final = b"LFE1"


@dataclass(frozen=True, slots=True)
class SegmentManifest:
    """`lowest` and `highest` are stream ids; `sha256` covers everything before the footer."""

    count: int = 0
    lowest: StreamId | None = None
    highest: StreamId | None = None
    sha256: str = ""

    def including(self, ids: Sequence[StreamId]) -> "SegmentManifest":
        if not ids:
            return self
        lowest = min(ids)
        highest = max(ids)
        return replace(
            self,
            count=self.count + len(ids),
            lowest=min(lowest, self.lowest or lowest),
            highest=max(highest, self.highest or highest),
        )


def encode_footer(manifest: SegmentManifest) -> bytes:
    body = orjson.dumps(
        {
            "count": manifest.count,
            "lowest": _text(manifest.lowest),
            "highest": _text(manifest.highest),
            "sha256": manifest.sha256,
        }
    )
    tail = _TAIL.pack(len(body), _digest(body), _TAG)
    return _FRAME.pack(_MAGIC, len(body) + len(tail)) + body + tail


def find_footer(segment: bytes) -> tuple[SegmentManifest, int] | None:
    """Returns the manifest at the end of a segment and where its footer starts.

    Returns None for a segment that is not sealed.
    """
    if len(segment) < _TAIL.size:
        return None
    length, digest, tag = _TAIL.unpack_from(segment, len(segment) - _TAIL.size)
    body = segment[-_TAIL.size - length : -_TAIL.size]
    start = len(segment) - _TAIL.size - length - _FRAME.size
    if tag != _TAG or start < 0 or _digest(body) != digest:
        return None
    raw = orjson.loads(body)
    return SegmentManifest(raw["count"], _parse_id(raw["lowest"]), _parse_id(raw["highest"]), raw["sha256"]), start


# A footer is about 200 bytes.
_ENOUGH: Final = 1_024


def is_sealed(path: Path) -> bool:
    """Tells whether a segment ends with a footer; looks at the end of the file only."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _ENOUGH))
        return find_footer(file.read()) is not None


def _text(stream_id: StreamId | None) -> str | None:
    return None if stream_id is None else str(stream_id)


def _parse_id(text: str | None) -> StreamId | None:
    return None if text is None else StreamId.parse(text)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
