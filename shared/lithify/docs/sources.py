"""A file as it is handed in: its name and references, its kind, and the digest that tells whether it changed."""

import hashlib
import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

from lithify.errors import Invalid

DocKind = Literal["decision", "roadmap", "spec", "log", "other"]
SourceKind = Literal["operator", "tool", "web", "import", "system"]

DOC_KINDS: Final[tuple[DocKind, ...]] = get_args(DocKind)
SOURCE_KINDS: Final[tuple[SourceKind, ...]] = get_args(SourceKind)
SUFFIXES: Final = (".md", ".markdown", ".rst", ".txt")
"""Files that can be read; others are refused."""

DEFAULT_INCLUDE: Final = ("**/ROADMAP*.md", "**/*SPEC*.md", "**/*PRD*.md", "**/TECH_NOTES/**", "DECISIONS/**")
"""The narrow start of spec 10 §1, for whoever names no globs."""

MAX_CHARS: Final = 2_000_000

# Part of every digest: change it when chunks or their words are made otherwise, and the next sync makes them anew.
EDITION: Final = "docs-1"

_RULES: Final[tuple[tuple[DocKind, re.Pattern[str]], ...]] = (
    ("decision", re.compile(r"(?:^|/)(?:decisions?|adrs?)/|(?:^|/)(?:adr|decision)[-_.\d][^/]*$", re.IGNORECASE)),
    ("roadmap", re.compile(r"(?:^|/)[^/]*roadmap[^/]*$", re.IGNORECASE)),
    ("spec", re.compile(r"(?:^|/)[^/]*(?:spec|prd)[^/]*$|(?:^|/)(?:specs?|tech_notes)/", re.IGNORECASE)),
    ("log", re.compile(r"(?:^|/)(?:logs?|journal|memory)/|(?:^|/)(?:change)?logs?\b[^/]*$", re.IGNORECASE)),
)

MAX_REPO: Final = 128
MAX_PATH: Final = 1024

_SCHEME: Final = "doc:"
# No colon, because a reference ends the repository's name with one.
_REPO = re.compile(r"[\w.-]+(?:/[\w.-]+)*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class DocName:
    """Names a document by its repository and its path there, both checked. Raises Invalid."""

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
    """Returns the document and the chunk id of a `doc:<repo>:<path>#<chunk_id>`. Raises Invalid."""
    place, mark, chunk_id = ref.rpartition("#")
    repo, colon, path = place.removeprefix(_SCHEME).partition(":")
    if not (mark and colon and chunk_id and place.startswith(_SCHEME)):
        raise Invalid(f"{ref!r} is no reference to a chunk; expected doc:<repo>:<path>#<chunk_id>")
    return DocName(repo, path), chunk_id


def checked_repo(repo: str) -> str:
    """Returns the name as it is. Raises Invalid for one that no repository can have."""
    if len(repo) > MAX_REPO or not _REPO.fullmatch(repo) or ".." in repo:
        raise Invalid(
            f"repo {repo!r} must be letters, digits, '.', '_', '-' in parts joined by '/', {MAX_REPO} at most"
        )
    return repo


def checked_path(path: str) -> str:
    """Returns a path that is relative, with forward slashes, and inside its repository. Raises Invalid for others."""
    parts = path.split("/")
    if not path or len(path) > MAX_PATH or _CONTROL.search(path) or "\\" in path:
        raise Invalid(f"path {path!r} must be 1 to {MAX_PATH} characters with '/' between folders")
    if any(part in ("", ".", "..") for part in parts):
        raise Invalid(f"path {path!r} must be relative and stay inside its repository: no empty, '.' or '..' part")
    return path


@dataclass(frozen=True, slots=True)
class DocSource:
    """One file of a repository. Without a kind, its path decides. Raises Invalid for what can never be stored."""

    path: str
    text: str
    kind: DocKind | None = None
    source_kind: SourceKind = "operator"

    def __post_init__(self) -> None:
        checked_source_kind(self.source_kind)
        if self.kind is not None:
            checked_kind(self.kind)
        if not self.path.lower().endswith(SUFFIXES):
            raise Invalid(f"path {self.path!r} must end in one of {', '.join(SUFFIXES)}")
        if len(self.text) > MAX_CHARS:
            raise Invalid(f"{self.path} has {len(self.text)} characters, {MAX_CHARS} are allowed; split the file")

    @property
    def doc_kind(self) -> DocKind:
        return self.kind or kind_of(self.path)

    @property
    def content_hash(self) -> str:
        return content_hash(self.text)

    @property
    def digest(self) -> str:
        """Changes with everything the stored chunks depend on; equal to `Holdings.digests` means nothing to do."""
        labels = f"{EDITION}\n{self.doc_kind}\n{self.source_kind}\n{self.content_hash}"
        return hashlib.sha256(labels.encode()).hexdigest()[:32]


def content_hash(text: str) -> str:
    """Hashes a text; half a surrogate pair counts as it is."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def kind_of(path: str) -> DocKind:
    """Returns the kind that a path tells; the first rule that fits decides."""
    return next((kind for kind, rule in _RULES if rule.search(path)), "other")


def checked_kind(kind: str) -> DocKind:
    if kind not in DOC_KINDS:
        raise Invalid(f"kind {kind!r} is unknown; known are {', '.join(DOC_KINDS)}")
    return kind


def checked_source_kind(kind: str | None) -> SourceKind:
    if kind not in SOURCE_KINDS:
        raise Invalid(f"source_kind {kind!r} is unknown; known are {', '.join(SOURCE_KINDS)}")
    return kind
