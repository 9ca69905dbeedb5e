"""Only documents on the list are read, and nothing outside the folder."""

import os
from pathlib import Path

import pytest

from lithify.docs.folder.changes import compare_folder
from lithify.docs.folder.reading import MAX_BYTES, Allowlist, Folder, SkippedFile, checked_folder, parse_allowlist
from lithify.docs.sources import DocSource
from lithify.errors import Invalid

EVERYTHING = Allowlist(("**",))


def written(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        file = folder / name.replace("__", "/").replace("_md", ".md")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return folder.resolve()


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**/*.md", "a.md", True),
        ("**/*.md", "a/b/c.md", True),
        ("*.md", "a/b.md", False),
        ("DECISIONS/**", "DECISIONS/a/b.md", True),
        ("DECISIONS/**", "x/DECISIONS/a.md", False),
        ("**/DECISIONS/**", "x/DECISIONS/a.md", True),
        ("**/ROADMAP*.md", "ROADMAP-2025.md", True),
        ("doc?/a.md", "docs/a.md", True),
        ("doc?/a.md", "doc//a.md", False),
        ("a+b(c).md", "a+b(c).md", True),
        ("**", "a.png", False),
    ],
)
def test_patterns_mean_what_they_say(pattern: str, path: str, matches: bool) -> None:
    assert parse_allowlist([pattern]).allows(path) is matches


@pytest.mark.parametrize("pattern", ["", "/etc/*.md", "../*.md", "a/../../b.md"])
def test_a_pattern_that_looks_outside_is_refused(pattern: str) -> None:
    with pytest.raises(Invalid, match="inside the folder"):
        parse_allowlist([pattern])


def test_without_patterns_only_the_narrow_list_is_read(tmp_path: Path) -> None:
    root = written(tmp_path, DECISIONS__a_md="a", ROADMAP_md="b", README_md="c")
    assert Folder(root, parse_allowlist([])).documents() == ["DECISIONS/a.md", "ROADMAP.md"]


def test_hidden_and_foreign_folders_are_not_entered(tmp_path: Path) -> None:
    root = written(tmp_path, a_md="a", node_modules__b_md="b")
    written(tmp_path / ".git", c_md="c")
    assert Folder(root, EVERYTHING).documents() == ["a.md"]


def test_a_link_to_the_outside_is_not_read(tmp_path: Path) -> None:
    written(tmp_path / "out", hidden_md="hidden", dir__more_md="more")
    root = written(tmp_path / "in", a_md="a")
    (root / "leak.md").symlink_to(tmp_path / "out" / "hidden.md")
    (root / "dir").symlink_to(tmp_path / "out" / "dir")
    folder = Folder(root, EVERYTHING)
    assert folder.documents() == ["a.md", "leak.md"]
    assert folder.read("leak.md") == SkippedFile("leak.md", "is a link to a place outside the folder")
    assert isinstance(folder.read("../out/hidden.md"), SkippedFile)


def test_what_is_no_text_is_skipped_with_the_reason(tmp_path: Path) -> None:
    root = written(tmp_path, a_md="a")
    (root / "b.md").write_bytes(b"abc\xff")
    with (root / "c.md").open("wb") as huge:
        huge.truncate(MAX_BYTES + 1)
    (root / os.fsdecode(b"d\xff.md")).write_text("d")
    changes = compare_folder(Folder(root, EVERYTHING), {})
    assert changes.changed == ["a.md"]
    reasons = {one.path: one.reason for one in changes.skipped}
    assert reasons["b.md"] == "is not UTF-8: bad byte at offset 3"
    assert "larger" in reasons["c.md"]
    assert "cannot be stored" in reasons["d?.md"]


def test_a_folder_outside_of_the_roots_is_refused(tmp_path: Path) -> None:
    inside = written(tmp_path / "root" / "docs", a_md="a")
    root, other = tmp_path / "root", written(tmp_path / "other", a_md="a")
    assert checked_folder(inside, [root]) == inside
    (root / "link").symlink_to(other)
    for bad in (other, root / "link", root / ".." / "other"):
        with pytest.raises(Invalid, match="outside"):
            checked_folder(bad, [root])
    with pytest.raises(Invalid, match="not a folder"):
        checked_folder(tmp_path / "none", [])


def test_only_what_differs_is_to_be_sent(tmp_path: Path) -> None:
    root = written(tmp_path, same_md="same", edited_md="new", fresh_md="fresh")
    stored = {"same.md": DocSource("same.md", "same").digest, "edited.md": "old", "gone.md": "x"}
    changes = compare_folder(Folder(root, EVERYTHING), stored)
    assert (changes.changed, changes.gone, changes.unchanged) == (["edited.md", "fresh.md"], ["gone.md"], 1)


def test_another_kind_is_another_document(tmp_path: Path) -> None:
    root = written(tmp_path, a_md="a")
    stored = {"a.md": DocSource("a.md", "a").digest}
    assert compare_folder(Folder(root, EVERYTHING, kind="spec"), stored).changed == ["a.md"]


def test_a_narrowed_comparison_leaves_the_rest_alone(tmp_path: Path) -> None:
    root = written(tmp_path, a_md="a", b_md="b")
    changes = compare_folder(Folder(root, EVERYTHING), {"gone.md": "x", "left.md": "x"}, only={"a.md", "gone.md"})
    assert (changes.changed, changes.gone) == (["a.md"], ["gone.md"])
