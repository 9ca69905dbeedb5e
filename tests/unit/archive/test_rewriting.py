"""Forgotten events leave the archive for good; everything else stays, whatever happens meanwhile."""

from pathlib import Path

import pytest

from lithify.archive import Findings, NotRewritten, Rotation, encode_line, rewrite, whole_archive
from lithify.archive.durable import write_file
from lithify.archive.manifest import is_sealed
from lithify.archive.segment import parse_segment, segment_paths
from lithify.errors import Invalid, Unavailable
from lithify.events import Event
from tests.unit.archive.archive_parts import archived_ids, line, only_segment, open_writer

SPOKEN = "the combination is 4711"


def not_forgotten(event: Event) -> bool:
    return event.user != "forgotten"


def fill(archive: Path, rotation: Rotation | None = None) -> None:
    writer = open_writer(archive, rotation=rotation)
    writer.append([line("a"), line("f1", user="forgotten", text=SPOKEN), line("b")])
    writer.append([line("c")])
    writer.append([line("f2", user="forgotten", text=SPOKEN)])
    writer.close()


def texts(archive: Path) -> bytes:
    return b"".join(text for path in segment_paths(archive) for text in parse_segment(path.read_bytes()).lines())


def test_forgotten_events_are_gone_and_the_others_are_whole(tmp_path: Path) -> None:
    fill(tmp_path)
    assert SPOKEN.encode() in texts(tmp_path)
    result = rewrite(tmp_path, not_forgotten)
    assert (result.changed, result.removed, result.kept, result.unsealed) == (1, 2, 3, [])
    findings = Findings()
    assert archived_ids(tmp_path, findings) == ["a", "b", "c"]
    assert not findings.damage
    assert SPOKEN.encode() not in texts(tmp_path)
    manifest = parse_segment(only_segment(tmp_path).read_bytes()).manifest
    assert manifest is not None
    assert manifest.count == 3


def test_a_segment_without_forgotten_events_is_not_touched(tmp_path: Path) -> None:
    fill(tmp_path, Rotation(max_bytes=1))
    before = {path: (path.stat().st_ino, path.read_bytes()) for path in segment_paths(tmp_path)}
    result = rewrite(tmp_path, not_forgotten)
    assert (result.changed, result.removed, result.kept) == (2, 2, 3)
    after = {path: (path.stat().st_ino, path.read_bytes()) for path in segment_paths(tmp_path)}
    assert len(after) == 2, "a segment of forgotten events only is removed"
    assert sum(before[path] == after[path] for path in after) == 1


def test_rewriting_again_changes_nothing(tmp_path: Path) -> None:
    fill(tmp_path)
    rewrite(tmp_path, not_forgotten)
    before = only_segment(tmp_path).read_bytes()
    assert rewrite(tmp_path, not_forgotten).changed == 0
    assert only_segment(tmp_path).read_bytes() == before


def test_the_open_segment_of_a_running_writer_is_reported_and_left_alone(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append([line("f1", user="forgotten")])
    path = only_segment(tmp_path)
    assert rewrite(tmp_path, not_forgotten).unsealed == [path]
    writer.append([line("a")])
    assert archived_ids(tmp_path) == ["f1", "a"]

    writer.seal()
    result = rewrite(tmp_path, not_forgotten)
    assert (result.removed, result.unsealed) == (1, [])
    writer.append([line("b")])
    writer.close()
    assert archived_ids(tmp_path) == ["a", "b"]


def test_what_a_dead_writer_left_open_is_sealed_and_rewritten(tmp_path: Path) -> None:
    fill(tmp_path)
    path = only_segment(tmp_path)
    path.write_bytes(parse_segment(path.read_bytes()).body + b"torn")
    result = rewrite(tmp_path, not_forgotten)
    assert (result.removed, result.unsealed) == (2, [])
    assert is_sealed(path)
    assert archived_ids(tmp_path) == ["a", "b", "c"]


def test_damaged_stretches_go_since_they_may_hold_what_is_forgotten(tmp_path: Path) -> None:
    fill(tmp_path)
    path = only_segment(tmp_path)
    data = bytearray(path.read_bytes())
    victim = parse_segment(bytes(data)).blocks[2]
    data[victim.end - 5] ^= 0xFF
    path.write_bytes(data)
    result = rewrite(tmp_path, not_forgotten)
    assert result.unreadable_bytes == victim.end - victim.offset
    findings = Findings()
    assert archived_ids(tmp_path, findings) == ["a", "b", "c"]
    assert not findings.damage


def test_what_a_crashed_rewriting_left_is_removed(tmp_path: Path) -> None:
    fill(tmp_path)
    stray = only_segment(tmp_path).with_suffix(".zst.rewrite")
    stray.write_bytes(SPOKEN.encode())
    rewrite(tmp_path, lambda _: True)
    assert not stray.exists()


def test_a_segment_that_reads_back_wrong_is_not_put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    before = only_segment(tmp_path).read_bytes()
    monkeypatch.setattr("lithify.archive.rewriting.write_file", lambda path, data: write_file(path, data[:-1]))
    with pytest.raises(NotRewritten, match="read back"):
        rewrite(tmp_path, not_forgotten)
    assert only_segment(tmp_path).read_bytes() == before


def test_events_of_a_newer_release_are_not_thrown_away(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append([encode_line("s", "5-0", 1, b'{"v":99}')])
    writer.close()
    with pytest.raises(Invalid, match=r"cannot be rewritten.*version 99"):
        rewrite(tmp_path, not_forgotten)
    assert len(segment_paths(tmp_path)) == 1


def test_rewriting_waits_for_a_rebuild(tmp_path: Path) -> None:
    with whole_archive(tmp_path), pytest.raises(Unavailable, match="rebuilding"):
        rewrite(tmp_path, not_forgotten)
    assert rewrite(tmp_path, not_forgotten).kept == 0
