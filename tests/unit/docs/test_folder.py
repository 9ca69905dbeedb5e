"""Which files of a folder are documents, and what a sync of them has to do."""

from pathlib import Path

import pytest

from lithify.docs.document import MAX_BYTES, Origin
from lithify.docs.folder import Folder
from lithify.docs.git import changed_since, commit_of
from lithify.docs.plan import Plan, plan_sync
from lithify.docs.provenance import DEFAULT_INCLUDE
from lithify.docs.survey import Survey, survey
from lithify.errors import Invalid, Unavailable
from tests.unit.docs.docs_parts import commit, git, write


@pytest.mark.parametrize(
    ("name", "admitted"),
    [
        ("DECISIONS/1.md", True),
        ("sub/DECISIONS/deep/1.md", True),
        ("ROADMAP.md", True),
        ("a/ROADMAP-2.md", True),
        ("a/b/WIRE-SPEC.md", True),
        ("TECH_NOTES/x.rst", True),
        ("README.md", False),
        ("src/main.py", False),
        ("ROADMAP.txt", False),
        (".git/DECISIONS/1.md", False),
        ("MYDECISIONS/1.md", False),
    ],
)
def test_only_the_allowlist_is_admitted(name: str, admitted: bool) -> None:
    assert Folder(Path(), DEFAULT_INCLUDE).admits(name) is admitted


def test_a_glob_without_a_slash_is_meant_for_any_folder_and_a_star_stays_inside_one() -> None:
    assert Folder(Path(), ["*.md"]).admits("a/b/c.md")
    assert Folder(Path(), ["docs/*.md"]).admits("docs/a.md")
    assert not Folder(Path(), ["docs/*.md"]).admits("docs/a/b.md")
    assert not Folder(Path(), ["*.md"]).admits("a.mdx")


def test_links_that_lead_outside_are_not_read(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    write(root, "in.md")
    write(root, "sub/deep.md")
    write(outside, "secret.md")
    (root / "link.md").symlink_to(outside / "secret.md")
    (root / "inner.md").symlink_to(root / "in.md")
    (root / "tree").symlink_to(outside)
    folder = Folder(root, ["*.md"])
    seen = survey(folder, "r", Origin(), [*folder.files(), "tree/secret.md", "gone.md"])
    assert sorted(seen.present) == ["in.md", "inner.md", "sub/deep.md"]
    assert folder.read("../outside/secret.md") is None


def test_a_folder_that_is_gone_is_an_outage_and_not_empty(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        Folder(tmp_path / "none").files()


def test_what_cannot_be_a_document_is_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path, "ok.md")
    write(tmp_path, "od#d.md")
    (tmp_path / "big.md").write_bytes(b"x" * (MAX_BYTES + 1))
    folder = Folder(tmp_path, ["*.md"])
    seen = survey(folder, "r", Origin(), folder.files())
    assert (sorted(seen.present), sorted(seen.refused)) == (["ok.md"], ["big.md", "od#d.md"])


def test_a_plan_puts_what_differs_and_deletes_what_is_gone() -> None:
    seen = Survey({"same": "1", "new": "2", "changed": "3", "torn": "4"}, {"bad": "no text"})
    stored = {"same": "1", "changed": "0", "torn": "", "gone": "9", "bad": "8"}
    assert plan_sync(seen, stored) == Plan(("new", "changed", "torn"), ("gone",), 1)
    assert plan_sync(seen, stored, looked_at=["new"]).delete == ()
    assert plan_sync(Survey(), stored, looked_at=["gone", "unknown"]) == Plan((), ("gone",), 0)


def test_git_tells_the_commit_and_what_changed_since_another(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    for name in ("docs/a.md", "docs/b.md", "docs/c.md", "other.md"):
        write(root, name)
    assert commit_of(root) is None
    first = commit(root)
    assert first == commit_of(root) == commit_of(root / "docs")
    (root / "ignored").mkdir()
    assert commit_of(root / "ignored") is None
    (root / "docs/b.md").unlink()
    for name in ("docs/neu ö.md", "docs/staged.md", "docs/a.md", "other.md"):
        write(root, name, "changed")
    git(root, "add", "docs/staged.md")
    assert changed_since(root / "docs", "HEAD") == ["a.md", "b.md", "neu ö.md", "staged.md"]
    commit(root)
    assert changed_since(root / "docs", first) == ["a.md", "b.md", "neu ö.md", "staged.md"]
    assert changed_since(root / "docs", "HEAD") == []
    for wrong in ("nonsense", "--output=x"):
        with pytest.raises(Invalid):
            changed_since(root, wrong)
