"""Reads the documents of a folder and nothing outside it."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lithify.docs.naming import checked_path
from lithify.docs.sources import MAX_CHARS, DocKind, Source, SourceKind
from lithify.errors import Invalid
from lithify.librarian.allowlist import Allowlist

# No character of UTF-8 takes more than four: what is larger has too many of them for sure, and is not even read.
MAX_BYTES: Final = 4 * MAX_CHARS
# Other people's documents, and folders of tools.
LEFT_OUT: Final = frozenset({"node_modules", "__pycache__", "site-packages"})


@dataclass(frozen=True, slots=True)
class Skipped:
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
        """The relative paths of all documents, sorted."""
        return sorted(path for path in walk(self.root) if self.allowed.allows(path))

    def read(self, path: str) -> Source | Skipped:
        """The document, or why there is none."""
        file = self.root / path
        try:
            checked_path(path)
            if not file.resolve().is_relative_to(self.root):
                return Skipped(path, "is a link to a place outside the folder")
            if file.stat().st_size > MAX_BYTES:
                return Skipped(path, f"is larger than {MAX_BYTES} bytes")
            return Source(path, file.read_bytes().decode(), self.kind, self.source_kind)
        except OSError as error:
            return Skipped(path, f"cannot be read: {error.strerror}")
        except UnicodeDecodeError as error:
            return Skipped(path, f"is not UTF-8: bad byte at offset {error.start}")
        except Invalid as error:
            # A name that is no text must not spoil the report as well.
            return Skipped(path.encode(errors="replace").decode(), f"cannot be stored: {error}")


def confined(folder: Path, roots: Sequence[Path]) -> Path:
    """Raises Invalid if it is no folder, or lies outside of all `roots` where there are some."""
    root = folder.expanduser().resolve()
    if not root.is_dir():
        raise Invalid(f"{folder} is not a folder")
    if roots and not any(root.is_relative_to(one.expanduser().resolve()) for one in roots):
        raise Invalid(f"{folder} lies outside of LITHIFY_DOCS_ROOTS: {', '.join(str(one) for one in roots)}")
    return root


def walk(root: Path) -> Iterator[str]:
    """Hidden folders and those of tools are not entered, links to folders are not followed."""
    for place, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in LEFT_OUT]
        inside = Path(place).relative_to(root)
        yield from ((inside / name).as_posix() for name in files)
