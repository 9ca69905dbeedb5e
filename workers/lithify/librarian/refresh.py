"""Brings docs memory up to date with a folder this machine can read."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from lithify.docs.holdings import Holdings
from lithify.docs.sources import Source
from lithify.errors import Invalid
from lithify.events import TenantScope
from lithify.librarian.changes import Changes, compare
from lithify.librarian.folder import Folder, Skipped
from lithify.librarian.revisions import commit_of

# Documents written at once; a killed run repeats no more than these.
PAGE: Final = 64
SHOWN: Final = 20


@dataclass(slots=True)
class Refreshed:
    """What one refresh did to a repository, in documents; `trouble` if it could not be read."""

    repo: str
    written: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    version: str | None = None
    trouble: str | None = None

    @property
    def touched(self) -> bool:
        return bool(self.written or self.removed)

    def outline(self) -> dict[str, Any]:
        return asdict(self) | {"skipped": [asdict(one) for one in self.skipped[:SHOWN]]}


def look(folder: Folder, stored: dict[str, str]) -> tuple[Changes, str | None]:
    """Reads the whole folder: work for an executor. Raises Invalid if it holds nothing of what is stored."""
    changes = compare(folder, stored)
    if stored and len(changes.gone) == len(stored) and not changes.changed:
        raise Invalid(f"{folder.root} holds none of the {len(stored)} stored documents; nothing was removed")
    return changes, commit_of(folder.root)


def read_some(folder: Folder, paths: Sequence[str]) -> tuple[list[Source], list[Skipped]]:
    """What vanished or was spoilt since it was looked at is skipped; the next run sees it."""
    read = [folder.read(path) for path in paths]
    return [one for one in read if isinstance(one, Source)], [one for one in read if isinstance(one, Skipped)]


async def write_changes(
    holdings: Holdings, scope: TenantScope, repo: str, sources: Sequence[Source], version: str | None
) -> int:
    changes = await holdings.put_all(scope, repo, sources, version=version)
    return sum(change.touched for change in changes)
