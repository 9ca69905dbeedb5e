"""A file as it is handed in, what kind of document it is, and the digest that tells whether it changed."""

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


@dataclass(frozen=True, slots=True)
class Source:
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
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def kind_of(path: str) -> DocKind:
    return next((kind for kind, rule in _RULES if rule.search(path)), "other")


def checked_kind(kind: str) -> DocKind:
    if kind not in DOC_KINDS:
        raise Invalid(f"kind {kind!r} is unknown; known are {', '.join(DOC_KINDS)}")
    return kind


def checked_source_kind(kind: str | None) -> SourceKind:
    if kind not in SOURCE_KINDS:
        raise Invalid(f"source_kind {kind!r} is unknown; known are {', '.join(SOURCE_KINDS)}")
    return kind
