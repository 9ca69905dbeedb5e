"""What the archive tests are made of: lines, writers and what a folder holds."""

from collections.abc import Callable
from pathlib import Path

from lithify.archive import (
    ArchiveLine,
    Findings,
    Rotation,
    SegmentWriter,
    encode_line,
    index_newest,
    read_archive,
    read_newest,
)
from lithify.archive.segment import segment_paths
from lithify.events import Event, encode_event

STREAM = "lithify:turns:{0}"


def event(event_id: str, tenant: str = "default", text: str = "hello", user: str = "u") -> Event:
    return Event(event_id, tenant, user, "s", "user", text, ts=1_000)


def line(event_id: str, number: int = 0, **more: str) -> ArchiveLine:
    return encode_line(STREAM, f"{1_000 + number}-0", number, encode_event(event(event_id, **more)))


class FakeClock:
    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


def open_writer(
    archive: Path, name: str = "w", clock: Callable[[], int] | None = None, rotation: Rotation | None = None
) -> SegmentWriter:
    return SegmentWriter.open(archive, name, clock or FakeClock(), rotation)


def archived_ids(archive: Path, findings: Findings | None = None) -> list[str]:
    """Of every line, in order, repeated ones too."""
    return [archived.event.event_id for archived in read_archive(archive, findings or Findings())]


def distinct_ids(archive: Path) -> list[str]:
    return [event.event_id for event in read_newest(archive, index_newest(archive), Findings())]


def only_segment(archive: Path) -> Path:
    [path] = segment_paths(archive)
    return path
