"""Which files count, and when a change has settled."""

import os
from pathlib import Path

import pytest

from lithify.authored.folder import DEBOUNCE_S, Debounce, FileStamp, read_file, scan_folder
from lithify.errors import Unavailable

ONE, TWO = FileStamp(1, 1), FileStamp(2, 2)
SOON = DEBOUNCE_S / 3


def written(path: Path, text: str = "- x\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_only_visible_markdown_below_the_folder_is_found(tmp_path: Path) -> None:
    for name in ("AGENTS.md", "notes/deep/a.md", "notes/b.txt", ".git/c.md", ".hidden.md"):
        written(tmp_path / name)
    (tmp_path / "folder.md").mkdir()
    found = scan_folder(tmp_path)
    assert sorted(found) == ["AGENTS.md", "notes/deep/a.md"]
    assert found["AGENTS.md"] == FileStamp(4, (tmp_path / "AGENTS.md").stat().st_mtime_ns)


def test_links_are_followed_inside_the_folder_and_never_out_of_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    secret, own = written(tmp_path / "secret.md", "secret"), written(root / "own.md", "own")
    (root / "inside.md").symlink_to(own)
    (root / "outside.md").symlink_to(secret)
    (root / "dangling.md").symlink_to(root / "nowhere")
    (root / "circle.md").symlink_to(root / "circle.md")
    (root / "folder").symlink_to(tmp_path)
    assert sorted(scan_folder(root)) == ["inside.md", "own.md"]
    assert read_file(root, "inside.md") == b"own"
    assert read_file(root, "outside.md") is None


def test_a_folder_that_is_itself_a_link_is_followed(tmp_path: Path) -> None:
    written(tmp_path / "real" / "a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert sorted(scan_folder(tmp_path / "link")) == ["a.md"]
    assert read_file(tmp_path / "link", "a.md") == b"- x\n"


def test_a_lost_folder_is_an_outage_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be read"):
        scan_folder(tmp_path / "gone")


def test_a_file_that_went_reads_as_nothing(tmp_path: Path) -> None:
    assert read_file(tmp_path, "gone.md") is None


def test_same_size_and_other_time_is_another_stamp(tmp_path: Path) -> None:
    path = written(tmp_path / "a.md")
    before = scan_folder(tmp_path)
    os.utime(path, ns=(1, 1))
    assert scan_folder(tmp_path) != before


def test_two_changes_within_the_debounce_are_due_once() -> None:
    """spec 11.4"""
    debounce = Debounce()
    assert debounce.due({"a": ONE}, 0.0) == {}
    assert debounce.due({"a": TWO}, SOON) == {}
    assert debounce.due({"a": TWO}, SOON + DEBOUNCE_S - 0.001) == {}
    assert debounce.due({"a": TWO}, SOON + DEBOUNCE_S) == {"a": TWO}
    debounce.mark_handled("a", TWO)
    assert debounce.due({"a": TWO}, 99.0) == {}


def test_a_change_that_was_taken_back_is_never_due() -> None:
    debounce = Debounce({"a": ONE})
    debounce.due({"a": TWO}, 0.0)
    assert debounce.due({"a": ONE}, SOON) == {}
    assert debounce.due({"a": TWO}, DEBOUNCE_S) == {}


def test_a_file_that_went_is_due_as_nothing() -> None:
    """spec 11.4"""
    debounce = Debounce({"a": ONE})
    assert debounce.due({}, 0.0) == {}
    assert debounce.due({}, DEBOUNCE_S) == {"a": None}
    debounce.mark_handled("a", None)
    assert debounce.due({}, 99.0) == {}


def test_what_could_not_be_handled_stays_due() -> None:
    debounce = Debounce()
    debounce.due({"a": ONE}, 0.0)
    assert debounce.due({"a": ONE}, 1.0) == debounce.due({"a": ONE}, 2.0) == {"a": ONE}
