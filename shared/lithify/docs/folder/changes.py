"""What a sync has to send: the difference between a folder and what is stored of it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from lithify.docs.folder.reading import Folder, SkippedFile
from lithify.docs.sources import DocSource


@dataclass(slots=True)
class FolderChanges:
    """Holds paths only, since a folder may be large: new or changed ones, and stored ones that are no longer there."""

    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    unchanged: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)

    def would_empty(self, stored: int) -> bool:
        """True if the folder holds none of the stored documents: not mounted, or a pattern with a typing mistake."""
        return bool(stored) and len(self.gone) == stored and not self.changed

    def note(self, path: str, content: DocSource | SkippedFile, stored_digest: str | None) -> None:
        """Counts one file of the folder."""
        if isinstance(content, SkippedFile):
            self.skipped.append(content)
        elif stored_digest == content.digest:
            self.unchanged += 1
        else:
            self.changed.append(path)


def compare_folder(
    folder: Folder,
    stored: Mapping[str, str],
    only: Collection[str] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> FolderChanges:
    """Compares by content, so that a fresh checkout with new times changes nothing; work for an executor.

    `stored` has the digest of each stored document by its path; `only` looks at these paths alone.
    """
    changes = FolderChanges()
    paths = folder.documents()
    for path in paths if only is None else [path for path in paths if path in only]:
        changes.note(path, folder.read(path), stored.get(path))
        progress(path)
    missing = set(stored) - set(paths)
    changes.gone = sorted(path for path in missing if only is None or path in only)
    return changes
