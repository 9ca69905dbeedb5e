"""What a segment file holds, damaged or not: the whole blocks, the flaws between them, and how it ends."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lithify.archive.block import ArchiveBlock, block_at, next_head
from lithify.archive.manifest import SegmentManifest, find_footer

SUFFIX: Final = ".jsonl.zst"
FOLDER: Final = "segments"


@dataclass(frozen=True, slots=True)
class Flaw:
    """A stretch of a segment that is not what was written."""

    offset: int
    length: int
    reason: str


@dataclass(frozen=True, slots=True)
class ArchiveSegment:
    """`torn` counts the bytes of a last append that was cut off; only a segment that is not sealed has such a tail."""

    data: bytes
    body_end: int
    blocks: tuple[ArchiveBlock, ...]
    flaws: tuple[Flaw, ...]
    torn: int
    manifest: SegmentManifest | None

    def lines(self) -> Iterator[bytes]:
        for block in self.blocks:
            yield from block.lines(self.data)

    @property
    def count(self) -> int:
        """Lines that can be read."""
        return sum(block.count for block in self.blocks)

    @property
    def body(self) -> bytes:
        """Everything but the footer and a torn tail."""
        return self.data[: self.body_end]

    @property
    def unreadable_bytes(self) -> int:
        return self.body_end - sum(block.end - block.offset for block in self.blocks)


def segment_paths(archive: Path) -> list[Path]:
    """All segments in the order they were begun, whoever wrote them."""
    return sorted((archive / FOLDER).glob(f"*/*{SUFFIX}"), key=lambda path: (path.name, path.parent.name))


def parse_segment(data: bytes) -> ArchiveSegment:
    manifest, end = find_footer(data) or (None, len(data))
    blocks, flaws = _walk(data, end)
    torn = 0
    if manifest is None and flaws and flaws[-1].offset + flaws[-1].length == end:
        torn = flaws.pop().length
    if manifest is not None and not flaws and hashlib.sha256(data[:end]).hexdigest() != manifest.sha256:
        flaws.append(Flaw(0, end, "every block is whole, but the footer was made for others"))
    return ArchiveSegment(
        data=data,
        body_end=end - torn,
        blocks=tuple(blocks),
        flaws=tuple(flaws),
        torn=torn,
        manifest=manifest,
    )


def _walk(data: bytes, end: int) -> tuple[list[ArchiveBlock], list[Flaw]]:
    blocks: list[ArchiveBlock] = []
    flaws: list[Flaw] = []
    offset = 0
    while offset < end:
        if block := block_at(data, offset, end):
            blocks.append(block)
            offset = block.end
        else:
            following = next_head(data, offset + 1, end)
            flaws.append(Flaw(offset, following - offset, "no whole block"))
            offset = following
    return blocks, flaws
