"""What git tells about a folder: the commit, and what differs from an earlier one."""

import subprocess
from pathlib import Path

import pytest

from lithify.docs.folder.git import changed_since, current_commit
from lithify.errors import Invalid

AUTHOR = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *AUTHOR, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "docs").mkdir()
    for name in ("kept", "edited", "deleted"):
        (tmp_path / "docs" / f"{name}.md").write_text(name)
    (tmp_path / "other.md").write_text("other")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def test_the_commit_is_the_version(repository: Path) -> None:
    assert current_commit(repository / "docs") == git(repository, "rev-parse", "HEAD")


def test_files_that_differ_from_the_commit_mark_the_version(repository: Path) -> None:
    (repository / "docs" / "new.md").write_text("new")
    assert current_commit(repository / "docs") == git(repository, "rev-parse", "HEAD") + "+changes"


def test_a_folder_without_git_has_no_version(tmp_path: Path) -> None:
    assert current_commit(tmp_path) is None


def test_edited_deleted_and_new_files_differ(repository: Path) -> None:
    docs = repository / "docs"
    (docs / "edited.md").write_text("edited again")
    (docs / "deleted.md").unlink()
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "second")
    (docs / "größe.md").write_text("untracked")
    (repository / "other.md").write_text("outside of the folder")
    assert changed_since(docs, "HEAD~1") == {"edited.md", "deleted.md", "größe.md"}


@pytest.mark.parametrize("revision", ["nonsense", "--output=x"])
def test_an_unknown_revision_is_named(repository: Path, revision: str) -> None:
    with pytest.raises(Invalid, match=revision):
        changed_since(repository, revision)
