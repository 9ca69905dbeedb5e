"""Reads the archive from its beginning: every event once, in its newest form, past whatever damage there is."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from lithify.archive.block import ArchivedEvent, decode_line
from lithify.archive.durable import disk_errors
from lithify.archive.segment import ArchiveSegment, parse_segment, segment_paths
from lithify.errors import Invalid
from lithify.events import Event
from lithify.streams.progress import StreamId
from lithify.telemetry.progress import StageProgress


@dataclass(frozen=True, slots=True)
class Damage:
    """A stretch of a segment that cannot be trusted; events in it are lost to the archive."""

    path: Path
    offset: int
    length: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path} at byte {self.offset}: {self.reason} in {self.length} bytes"


@dataclass(slots=True)
class Findings:
    """Holds what a reading met besides events; `torn_bytes` were never acknowledged and are no loss."""

    segments: int = 0
    lines: int = 0
    torn_bytes: int = 0
    damage: list[Damage] = field(default_factory=list)


def read_archive(archive: Path, findings: Findings, progress: StageProgress | None = None) -> Iterator[ArchivedEvent]:
    """Yields every readable line, repeated ones too, segment by segment; also what an open segment holds so far.

    A segment that disappears meanwhile held forgotten events only. Raises Unavailable if the disk refuses.
    """
    with disk_errors(archive):
        sizes = {path: _size(path) for path in segment_paths(archive)}
    done = 0
    total = sum(sizes.values())
    for path, size in sizes.items():
        yield from _read_segment(archive, path, findings)
        done += size
        if progress is not None:
            progress(done, total)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _read_segment(archive: Path, path: Path, findings: Findings) -> Iterator[ArchivedEvent]:
    with disk_errors(archive):
        try:
            segment = parse_segment(path.read_bytes())
        except FileNotFoundError:
            return
    findings.segments += 1
    findings.torn_bytes += segment.torn
    findings.damage += [Damage(path, flaw.offset, flaw.length, flaw.reason) for flaw in segment.flaws]
    yield from _events(path, segment, findings)


def _events(path: Path, segment: ArchiveSegment, findings: Findings) -> Iterator[ArchivedEvent]:
    for block in segment.blocks:
        for line in block.lines(segment.data):
            findings.lines += 1
            try:
                archived = decode_line(line)
            except Invalid as error:
                findings.damage.append(Damage(path, block.offset, block.end - block.offset, str(error)))
            else:
                yield archived


def event_key(event: Event) -> bytes:
    """Returns what makes two archived events the same one: 16 bytes, for all of an archive's are held at once."""
    name = f"{len(event.tenant)}:{event.tenant}{event.event_id}"
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


class Newest:
    """Leaves one of several archived forms of an event: the one accepted last, at its first place, as the store does.

    An event is archived again when an acknowledgement was lost, and when a host sends it once more after its receipt
    has expired. Takes about 200 bytes of memory per event.
    """

    def __init__(self) -> None:
        self._accepted: dict[bytes, StreamId] = {}
        self._repeated: set[bytes] = set()
        self._first: dict[tuple[bytes, str, str], ArchivedEvent] = {}

    def __len__(self) -> int:
        """Counts the distinct events met."""
        return len(self._accepted)

    def note(self, archived: ArchivedEvent) -> None:
        key = event_key(archived.event)
        known = self._accepted.get(key, archived.stream_id)
        if known != archived.stream_id:
            self._repeated.add(key)
        self._accepted[key] = max(archived.stream_id, known)

    @property
    def has_repeated(self) -> bool:
        """Tells whether an event was accepted more than once; then a second reading notes where it first stood."""
        return bool(self._repeated)

    def note_place(self, archived: ArchivedEvent) -> None:
        key = event_key(archived.event)
        if key in self._repeated:
            name = (key, archived.event.user, archived.event.session)
            known = self._first.get(name, archived)
            # Only where it stands is asked for, so what it says need not be held.
            first = min(known, archived, key=lambda one: one.stream_id)
            self._first[name] = replace(first, event=replace(first.event, text="", meta=None))

    def place(self, event: Event) -> Event:
        """Returns the event with the position and the time of its first acceptance in the same session."""
        first = self._first.get((event_key(event), event.user, event.session)) if self._repeated else None
        if first is None:
            return event
        return replace(event, seq=event.seq if first.event.seq is None else first.event.seq, ts=first.event.ts)

    def admits(self, archived: ArchivedEvent) -> bool:
        """Returns true once for the newest form noted; also for a newer one that was appended since."""
        key = event_key(archived.event)
        if archived.stream_id < self._accepted.get(key, archived.stream_id):
            return False
        self._accepted[key] = StreamId(archived.stream_id.ms, archived.stream_id.number + 1)
        return True


def index_newest(archive: Path, progress: StageProgress | None = None) -> Newest:
    """Reads everything once, since the newest form of an event may lie anywhere behind the others.

    Reads it a second time if an event was accepted more than once: then its first form matters, too.
    """
    newest = Newest()
    for archived in read_archive(archive, Findings(), progress):
        newest.note(archived)
    if newest.has_repeated:
        for archived in read_archive(archive, Findings()):
            newest.note_place(archived)
    return newest


def read_newest(archive: Path, newest: Newest, findings: Findings) -> Iterator[Event]:
    """Yields every event once, as it was accepted last, where it first stood.

    `newest` comes from an earlier reading and serves one only.
    """
    for archived in read_archive(archive, findings):
        if newest.admits(archived):
            yield newest.place(archived.event)
