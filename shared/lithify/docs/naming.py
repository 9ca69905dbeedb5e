"""What documents and chunks are called, and how a reference leads back to its parts."""

import re
from dataclasses import dataclass
from typing import Final

from lithify.errors import Invalid

MAX_REPO: Final = 128
MAX_PATH: Final = 1024

_SCHEME: Final = "doc:"
# No colon, because a reference ends the repository's name with one.
_REPO = re.compile(r"[\w.-]+(?:/[\w.-]+)*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class DocName:
    """A repository and a path inside it, both checked. Raises Invalid."""

    repo: str
    path: str

    def __post_init__(self) -> None:
        checked_repo(self.repo)
        checked_path(self.path)

    @property
    def doc_id(self) -> str:
        return f"{_SCHEME}{self.repo}:{self.path}"

    @property
    def source_ref(self) -> str:
        return f"{self.repo}/{self.path}"

    def ref(self, chunk_id: str) -> str:
        return f"{self.doc_id}#{chunk_id}"


def parse_ref(ref: str) -> tuple[DocName, str]:
    """The document and the chunk id of a `doc:<repo>:<path>#<chunk_id>`. Raises Invalid."""
    place, mark, chunk_id = ref.rpartition("#")
    repo, colon, path = place.removeprefix(_SCHEME).partition(":")
    if not (mark and colon and chunk_id and place.startswith(_SCHEME)):
        raise Invalid(f"{ref!r} is no reference to a chunk; expected doc:<repo>:<path>#<chunk_id>")
    return DocName(repo, path), chunk_id


def checked_repo(repo: str) -> str:
    if len(repo) > MAX_REPO or not _REPO.fullmatch(repo) or ".." in repo:
        raise Invalid(
            f"repo {repo!r} must be letters, digits, '.', '_', '-' in parts joined by '/', {MAX_REPO} at most"
        )
    return repo


def checked_path(path: str) -> str:
    """Relative, with forward slashes, and inside its repository."""
    parts = path.split("/")
    if not path or len(path) > MAX_PATH or _CONTROL.search(path) or "\\" in path:
        raise Invalid(f"path {path!r} must be 1 to {MAX_PATH} characters with '/' between folders")
    if any(part in ("", ".", "..") for part in parts):
        raise Invalid(f"path {path!r} must be relative and stay inside its repository: no empty, '.' or '..' part")
    return path
