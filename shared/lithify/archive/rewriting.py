"""Takes events out of the archive again, so that what is forgotten does not come back with a rebuild."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lithify.archive.block import ArchiveBlock, decode_line, encode_block
from lithify.archive.durable import disk_errors, put_in_place, remove_file, whole_archive, write_file
from lithify.archive.segment import FOLDER, ArchiveSegment, parse_segment, segment_paths
from lithify.archive.writer import LOCK, seal_body, seal_leftovers
from lithify.errors import Invalid, LithifyError
from lithify.events import Event
from lithify.locks import FileLock

Keep = Callable[[Event], bool]
"""Tells whether a line stays; an event may have several, each `accepted` at its own time."""

_FRESH: Final = ".rewrite"


class NotRewritten(LithifyError):
    """A rewritten segment does not hold what it should; the former one is still in place."""


@dataclass(slots=True)
class RewriteResult:
    """Counts what a rewriting did. `unsealed` segments belong to running writers and were left as they are."""

    changed: int = 0
    removed: int = 0
    kept: int = 0
    unreadable_bytes: int = 0
    unsealed: list[Path] = field(default_factory=list)


def rewrite(archive: Path, keep: Keep) -> RewriteResult:
    """Removes the lines that are not to be kept from every sealed segment, each replaced in one step and verified.

    Open segments of writers that are gone are sealed first. Have a running writer seal its own before the call; what
    is `unsealed` afterwards needs another call. Damaged stretches go too: nobody can show that they hold nothing
    forgotten. May be repeated after a crash. Raises Unavailable while a rebuild runs or the disk refuses, Invalid for
    a segment with events this release cannot read.
    """
    with whole_archive(archive):
        return rewrite_locked(archive, keep)


def rewrite_locked(archive: Path, keep: Keep) -> RewriteResult:
    """Does what `rewrite` does for a caller that holds the lock on the archive."""
    result = RewriteResult()
    with disk_errors(archive):
        _tidy(archive)
        for path in segment_paths(archive):
            _rewrite_segment(path, keep, result)
    return result


def _tidy(archive: Path) -> None:
    """Removes what a crashed rewriting left, and seals the segments of writers that are gone."""
    for stray in (archive / FOLDER).glob(f"*/*{_FRESH}"):
        remove_file(stray)
    for folder in (archive / FOLDER).glob("*/"):
        lock = FileLock(folder / LOCK)
        if lock.acquire():
            try:
                seal_leftovers(folder)
            finally:
                lock.let_go()


def _rewrite_segment(path: Path, keep: Keep, result: RewriteResult) -> None:
    segment = parse_segment(path.read_bytes())
    if segment.manifest is None:
        result.unsealed.append(path)
        return
    try:
        blocks = [_keep_lines(segment, block, keep) for block in segment.blocks]
    except Invalid as error:
        raise Invalid(f"{path} cannot be rewritten, this release cannot read an event in it: {error}") from error
    body = b"".join(blocks)
    fresh = seal_body(body)
    kept = parse_segment(fresh).count
    result.kept += kept
    result.removed += segment.count - kept
    result.unreadable_bytes += segment.unreadable_bytes
    if body != segment.body:
        result.changed += 1
        _put(fresh, path, keep)


def _keep_lines(segment: ArchiveSegment, block: ArchiveBlock, keep: Keep) -> bytes:
    """Returns the block without the forgotten events; byte by byte the same if it has none."""
    lines = block.lines(segment.data)
    kept = [line for line in lines if keep(decode_line(line).event)]
    if len(kept) == len(lines):
        return segment.data[block.offset : block.end]
    return encode_block(kept) if kept else b""


def _put(data: bytes, path: Path, keep: Keep) -> None:
    if not parse_segment(data).blocks:
        remove_file(path)
        return
    fresh = path.with_name(path.name + _FRESH)
    write_file(fresh, data)
    _verify(parse_segment(fresh.read_bytes()), parse_segment(data).count, path, keep)
    put_in_place(fresh, path)


def _verify(written: ArchiveSegment, count: int, path: Path, keep: Keep) -> None:
    whole = written.manifest is not None and not written.flaws and written.count == count
    if not whole or not all(keep(decode_line(line).event) for line in written.lines()):
        raise NotRewritten(f"{path} could not be rewritten: what was read back is not what was written")
