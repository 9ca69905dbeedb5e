"""Appended events are on disk before append returns, in segments that rotate and have one writer each."""

import errno
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lithify.archive import Findings, Rotation
from lithify.archive.manifest import is_sealed
from lithify.archive.segment import parse_segment, segment_paths
from lithify.errors import Misconfigured, Unavailable
from lithify.streams.progress import StreamId
from tests.unit.archive.archive_parts import FakeClock, archived_ids, line, only_segment, open_writer


def test_appended_events_are_readable_while_the_segment_is_open(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append([line("a"), line("b")])
    findings = Findings()
    assert archived_ids(tmp_path, findings) == ["a", "b"]
    assert (findings.torn_bytes, findings.damage) == (0, [])
    writer.close()


def test_file_and_folders_are_synced_before_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[str, int]] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        synced.append((path.name, path.stat().st_size if path.is_file() else 0))

    if not Path("/proc/self/fd").exists():
        pytest.skip("the names of open files are read from /proc")
    monkeypatch.setattr(os, "fsync", fsync)
    writer = open_writer(tmp_path / "archive")
    writer.append([line("a")])
    path = only_segment(tmp_path / "archive")
    # Parents hold the names of new folders, `w` that of the segment, and the segment is synced with all its bytes.
    assert synced == [
        (tmp_path.name, 0),
        ("archive", 0),
        ("segments", 0),
        ("w", 0),
        (path.name, path.stat().st_size),
    ]
    writer.close()


def test_the_footer_tells_count_ids_and_digest(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append([line("a", 5), line("b", 2)])
    writer.append([line("c", 9)])
    writer.close()
    data = only_segment(tmp_path).read_bytes()
    segment = parse_segment(data)
    assert segment.manifest is not None
    assert (segment.manifest.count, segment.manifest.lowest, segment.manifest.highest) == (
        3,
        StreamId(1_002, 0),
        StreamId(1_009, 0),
    )
    assert segment.manifest.sha256 == hashlib.sha256(segment.body).hexdigest()


def test_a_full_segment_is_sealed_and_another_begun(tmp_path: Path) -> None:
    writer = open_writer(tmp_path, rotation=Rotation(max_bytes=1))
    for name in ("a", "b", "c"):
        writer.append([line(name)])
    paths = segment_paths(tmp_path)
    assert len(paths) == 3
    assert all(map(is_sealed, paths))
    assert archived_ids(tmp_path) == ["a", "b", "c"]
    writer.close()


def test_a_segment_of_age_is_sealed_even_if_nothing_is_appended(tmp_path: Path) -> None:
    clock = FakeClock()
    writer = open_writer(tmp_path, clock=clock, rotation=Rotation(max_age_ms=1_000))
    writer.append([line("a")])
    clock.now_ms += 999
    writer.seal_if_due()
    assert not is_sealed(only_segment(tmp_path))
    clock.now_ms += 1
    writer.seal_if_due()
    assert is_sealed(only_segment(tmp_path))
    writer.close()


def test_segments_stay_in_order_when_the_clock_is_set_back(tmp_path: Path) -> None:
    clock = FakeClock()
    writer = open_writer(tmp_path, clock=clock, rotation=Rotation(max_bytes=1))
    for name in ("a", "b", "c"):
        writer.append([line(name)])
        clock.now_ms -= 60_000
    writer.close()
    assert archived_ids(tmp_path) == ["a", "b", "c"]


def test_a_segment_of_another_name_in_the_folder_does_no_harm(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append([line("a")])
    writer.seal()
    only_segment(tmp_path).rename(only_segment(tmp_path).with_name("restored.jsonl.zst"))
    writer.append([line("b")])
    writer.close()
    assert sorted(archived_ids(tmp_path)) == ["a", "b"]


def test_nothing_appended_leaves_no_segment(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append([])
    writer.close()
    assert segment_paths(tmp_path) == []


def test_two_writers_never_share_a_file(tmp_path: Path) -> None:
    first, second = open_writer(tmp_path, "w1"), open_writer(tmp_path, "w2")
    first.append([line("a")])
    second.append([line("b")])
    assert {path.parent.name for path in segment_paths(tmp_path)} == {"w1", "w2"}
    assert sorted(archived_ids(tmp_path)) == ["a", "b"]
    first.close()
    second.close()


def test_a_second_writer_of_one_name_is_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lithify.archive.writer.PATIENCE_S", 0.0)
    writer = open_writer(tmp_path)
    writer.append([line("a")])
    with pytest.raises(Misconfigured, match=f"process {os.getpid()} already writes .*LITHIFY_WORKER_NAME"):
        open_writer(tmp_path)
    writer.append([line("b")])
    writer.close()
    open_writer(tmp_path).close()
    assert archived_ids(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("failing", ["write", "fsync"])
def test_a_refusing_disk_is_an_outage_and_repeating_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    writer = open_writer(tmp_path)
    writer.append([line("a")])

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, failing, full)
        with pytest.raises(Unavailable, match="No space left"):
            writer.append([line("b")])
        with pytest.raises(Unavailable, match="No space left"):
            writer.append([line("b")])
    writer.append([line("b")])
    writer.close()
    findings = Findings()
    assert list(dict.fromkeys(archived_ids(tmp_path, findings))) == ["a", "b"]
    assert (findings.torn_bytes, findings.damage) == (0, [])
    assert all(map(is_sealed, segment_paths(tmp_path)))


def test_a_half_written_block_is_no_part_of_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = open_writer(tmp_path)
    writer.append([line("a")])
    real = os.write

    def half(descriptor: int, data: bytes) -> int:
        real(descriptor, bytes(data)[: len(data) // 2])
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(Unavailable):
            writer.append([line("b")])
    findings = Findings()
    assert archived_ids(tmp_path, findings) == ["a"]
    assert findings.torn_bytes > 0
    writer.append([line("c")])
    writer.close()
    assert archived_ids(tmp_path) == ["a", "c"]


def test_zstdcat_prints_the_lines_of_a_sealed_segment(tmp_path: Path) -> None:
    tool = shutil.which("zstdcat")
    if tool is None:
        pytest.skip("no zstdcat here")
    writer = open_writer(tmp_path)
    writer.append([line("a")])
    writer.append([line("b")])
    writer.close()
    printed = subprocess.run([tool, only_segment(tmp_path)], check=True, capture_output=True).stdout
    assert printed == line("a").data + line("b").data
