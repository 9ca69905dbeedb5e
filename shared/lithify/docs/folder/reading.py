"""Reads the documents of a folder: only files that the allowlist names, and nothing outside the folder."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from lithify.docs.sources import DEFAULT_INCLUDE, MAX_CHARS, SUFFIXES, DocKind, DocSource, SourceKind, checked_path
from lithify.errors import Invalid

# No character of UTF-8 takes more than four: what is larger has too many of them for sure, and is not even read.
MAX_BYTES: Final = 4 * MAX_CHARS
# Other people's documents, and folders of tools.
LEFT_OUT: Final = frozenset({"node_modules", "__pycache__", "site-packages"})


@dataclass(frozen=True, slots=True)
class Allowlist:
    """Names the documents of a folder by explicit patterns; nothing outside them is read (spec 10 §1)."""

    patterns: tuple[str, ...] = DEFAULT_INCLUDE

    def allows(self, path: str) -> bool:
        """Answers for a path that is relative and written with slashes."""
        return path.lower().endswith(SUFFIXES) and any(compile_pattern(one).fullmatch(path) for one in self.patterns)


def parse_allowlist(patterns: Sequence[str]) -> Allowlist:
    """Checks the patterns; without any, the default ones hold. Raises Invalid for one that looks outside the folder."""
    for one in patterns:
        if not one or one.startswith("/") or ".." in one.split("/"):
            raise Invalid(f"include: {one!r} must be a pattern inside the folder, such as 'docs/**/*.md'")
    return Allowlist(tuple(patterns) or DEFAULT_INCLUDE)


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Makes a regular expression in which `**` is any number of folders, and `*` and `?` stay inside one name."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile(r"\A" + "".join(meanings.get(part, re.escape(part)) for part in parts), re.DOTALL)


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """Says which document was not read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Folder:
    """`root` has no symbolic link in it any more; whatever resolves to a place outside is not read."""

    root: Path
    allowed: Allowlist
    kind: DocKind | None = None
    source_kind: SourceKind = "operator"

    def documents(self) -> list[str]:
        """Lists the relative paths of all documents, sorted."""
        return sorted(path for path in walk_files(self.root) if self.allowed.allows(path))

    def read(self, path: str) -> DocSource | SkippedFile:
        """Returns the document, or why there is none."""
        file = self.root / path
        try:
            checked_path(path)
            if not file.resolve().is_relative_to(self.root):
                return SkippedFile(path, "is a link to a place outside the folder")
            if file.stat().st_size > MAX_BYTES:
                return SkippedFile(path, f"is larger than {MAX_BYTES} bytes")
            return DocSource(path, file.read_bytes().decode(), self.kind, self.source_kind)
        except OSError as error:
            return SkippedFile(path, f"cannot be read: {error.strerror}")
        except UnicodeDecodeError as error:
            return SkippedFile(path, f"is not UTF-8: bad byte at offset {error.start}")
        except Invalid as error:
            # A name that is no text must not spoil the report as well.
            return SkippedFile(path.encode(errors="replace").decode(), f"cannot be stored: {error}")

    def read_all(self, paths: Sequence[str]) -> tuple[list[DocSource], list[SkippedFile]]:
        """Reads these documents; one that vanished or was spoilt since it was listed is skipped."""
        read = [self.read(path) for path in paths]
        sources = [one for one in read if isinstance(one, DocSource)]
        return sources, [one for one in read if isinstance(one, SkippedFile)]


def checked_folder(folder: Path, roots: Sequence[Path]) -> Path:
    """Resolves a folder. Raises Invalid if it is none, or lies outside of all `roots` where there are some."""
    root = folder.expanduser().resolve()
    if not root.is_dir():
        raise Invalid(f"{folder} is not a folder")
    if roots and not any(root.is_relative_to(one.expanduser().resolve()) for one in roots):
        raise Invalid(f"{folder} lies outside of LITHIFY_DOCS_ROOTS: {', '.join(str(one) for one in roots)}")
    return root


def walk_files(root: Path) -> Iterator[str]:
    """Yields relative paths; hidden folders and those of tools are not entered, links to folders not followed."""
    for place, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in LEFT_OUT]
        inside = Path(place).relative_to(root)
        yield from ((inside / name).as_posix() for name in files)
