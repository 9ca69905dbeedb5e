"""What a sync has to send: the difference between a folder and what is stored of it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from lithify.docs.sources import Source
from lithify.librarian.folder import Folder, Skipped


@dataclass(slots=True)
class Changes:
    """Paths only, since a folder may be large: what is new or has changed, and what is stored but no longer there."""

    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    unchanged: int = 0
    skipped: list[Skipped] = field(default_factory=list)


def compare(
    folder: Folder,
    stored: Mapping[str, str],
    only: Collection[str] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Changes:
    """By content, so that a fresh checkout with new times changes nothing; `only` looks at these paths alone."""
    found, paths = Changes(), folder.documents()
    for path in paths if only is None else [path for path in paths if path in only]:
        take(found, path, folder.read(path), stored.get(path))
        progress(path)
    found.gone = vanished(stored, paths, only)
    return found


def take(found: Changes, path: str, content: Source | Skipped, known: str | None) -> None:
    if isinstance(content, Skipped):
        found.skipped.append(content)
    elif known == content.digest:
        found.unchanged += 1
    else:
        found.changed.append(path)


def vanished(stored: Iterable[str], present: Iterable[str], only: Collection[str] | None) -> list[str]:
    return sorted(path for path in set(stored) - set(present) if only is None or path in only)
