"""Appends events to segments of its own: on the disk when it returns, rotated by size and age, sealed with a footer."""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import structlog

from lithify.archive.block import ArchiveLine, encode_block, read_stream_id
from lithify.archive.durable import disk_errors, make_folder, remove_file, sync, write_all
from lithify.archive.manifest import SegmentManifest, encode_footer, is_sealed
from lithify.archive.segment import FOLDER, SUFFIX, parse_segment
from lithify.errors import Misconfigured, Unavailable
from lithify.events import Clock
from lithify.locks import FileLock

log = structlog.get_logger(__name__)


def seal_leftovers(folder: Path) -> list[Path]:
    """Seals every open segment of one writer; its lock must be held. Returns those that were open."""
    left = [path for path in sorted(folder.glob(f"*{SUFFIX}")) if not is_sealed(path)]
    for path in left:
        seal_leftover(path)
    return left


def seal_leftover(path: Path) -> None:
    segment = parse_segment(path.read_bytes())
    if segment.torn:
        log.warning("torn_tail", segment=str(path), offset=segment.body_end, bytes=segment.torn)
    if not segment.body:
        remove_file(path)
        return
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.ftruncate(descriptor, segment.body_end)
        os.lseek(descriptor, 0, os.SEEK_END)
        write_all(descriptor, make_footer(segment.body))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def seal_body(body: bytes) -> bytes:
    return body + make_footer(body)


def make_footer(body: bytes) -> bytes:
    """Makes the footer: counts what can be read.

    A damaged stretch stays where it is, inside the digest, and readers tell of it.
    """
    ids = [read_stream_id(line) for line in parse_segment(body).lines()]
    return encode_footer(replace(SegmentManifest().including(ids), sha256=hashlib.sha256(body).hexdigest()))


if TYPE_CHECKING:
    from hashlib import _Hash

# Forgetting takes the lock for the moment in which it seals what a dead writer left.
PATIENCE_S: Final = 5.0
LOCK: Final = "writer.lock"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Rotation:
    """Says when a segment is full. Readers and rewriters hold one in memory, and forgetting leaves open ones alone."""

    max_bytes: int = 64 * 2**20
    max_age_ms: int = 3_600_000


@dataclass(slots=True)
class OpenSegment:
    descriptor: int
    begun_ms: int
    size: int = 0
    manifest: SegmentManifest = field(default_factory=SegmentManifest)
    digest: "_Hash" = field(default_factory=hashlib.sha256)

    def append(self, lines: Sequence[ArchiveLine]) -> None:
        block = encode_block([line.data for line in lines])
        write_all(self.descriptor, block)
        os.fsync(self.descriptor)
        self.digest.update(block)
        self.size += len(block)
        self.manifest = self.manifest.including([line.stream_id for line in lines])

    def seal(self) -> None:
        write_all(self.descriptor, encode_footer(replace(self.manifest, sha256=self.digest.hexdigest())))
        os.fsync(self.descriptor)

    def is_due(self, rotation: Rotation, now_ms: int) -> bool:
        return self.size >= rotation.max_bytes or now_ms - self.begun_ms >= rotation.max_age_ms


class SegmentWriter:
    """The only writer of `segments/<name>`. Blocking; calls must come one at a time."""

    def __init__(self, archive: Path, name: str, lock: FileLock, clock: Clock, rotation: Rotation) -> None:
        self._archive = archive
        self._folder = archive / FOLDER / name
        self._lock = lock
        self._clock = clock
        self._rotation = rotation
        self._segment: OpenSegment | None = None

    @classmethod
    def open(cls, archive: Path, name: str, clock: Clock, rotation: Rotation | None = None) -> Self:
        """Seals what an earlier process of that name left open. Raises Misconfigured if one is still running."""
        folder = archive / FOLDER / name
        with disk_errors(archive):
            make_folder(folder)
            lock = FileLock(folder / LOCK)
            if not lock.acquire(PATIENCE_S):
                raise Misconfigured(
                    f"process {lock.signature()} already writes {folder}; "
                    "give each archive worker a name of its own (LITHIFY_WORKER_NAME)"
                )
            try:
                seal_leftovers(folder)
            except BaseException:
                lock.let_go()
                raise
        return cls(archive, name, lock, clock=clock, rotation=rotation or Rotation())

    def append(self, lines: Sequence[ArchiveLine]) -> None:
        """The lines survive a power cut on return. Raises Unavailable when the disk refuses; then repeat all of them.

        After a refusal the segment is given up, since a second fsync may claim success for bytes the system dropped.
        """
        if not lines:
            return
        with disk_errors(self._archive):
            try:
                segment = self._segment = self._segment or self._begin()
                segment.append(lines)
            except OSError:
                self._give_up()
                raise
        # What was appended is safe already; a segment that cannot be sealed now is sealed before the next one begins.
        with suppress(Unavailable):
            self.seal_if_due()

    def seal_if_due(self) -> None:
        if self._segment is not None and self._segment.is_due(self._rotation, self._clock()):
            self.seal()

    def seal(self) -> None:
        """Close the open segment, if any, so that it can be rewritten; the next append begins another."""
        if self._segment is None:
            return
        try:
            with disk_errors(self._archive):
                self._segment.seal()
        except Unavailable as error:
            log.warning("segment_not_sealed", writer=self._folder.name, error=str(error))
            raise
        finally:
            self._give_up()

    def close(self) -> None:
        try:
            self.seal()
        finally:
            self._lock.let_go()

    def _begin(self) -> OpenSegment:
        seal_leftovers(self._folder)
        now = self._clock()
        # Named by its beginning, and later than its neighbours even if the clock was set back.
        path = self._folder / f"{max(now, self._last_begun() + 1):013d}{SUFFIX}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        sync(self._folder)
        return OpenSegment(descriptor, now)

    def _last_begun(self) -> int:
        names = (path.name.removesuffix(SUFFIX) for path in self._folder.glob(f"*{SUFFIX}"))
        return max((int(name) for name in names if name.isdecimal()), default=0)

    def _give_up(self) -> None:
        if self._segment is not None:
            os.close(self._segment.descriptor)
            self._segment = None
