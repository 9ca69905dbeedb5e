"""Brings docs memory up to date with a folder this machine can read."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import structlog

from lithify.batching import batched
from lithify.docs.folder.changes import FolderChanges, compare_folder
from lithify.docs.folder.git import current_commit
from lithify.docs.folder.reading import Folder, SkippedFile, checked_folder, parse_allowlist
from lithify.docs.holdings import Holdings
from lithify.errors import Invalid
from lithify.events import TenantScope
from lithify.jobs import JobContext

# Documents written at once; a killed run repeats no more than these.
PAGE: Final = 64
SHOWN: Final = 20

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RefreshParts:
    """`include` are the patterns of the documents; none means the default ones."""

    scope: TenantScope
    holdings: Holdings
    include: Sequence[str] = ()


@dataclass(slots=True)
class RefreshReport:
    """Counts what one refresh did to the documents of a repository; `trouble` says why it could not be read."""

    repo: str
    written: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    version: str | None = None
    trouble: str | None = None

    @property
    def has_changes(self) -> bool:
        return bool(self.written or self.removed)

    def outline(self) -> dict[str, Any]:
        return asdict(self) | {"skipped": [asdict(one) for one in self.skipped[:SHOWN]]}


async def refresh(context: JobContext[RefreshParts], repo: str, place: Path) -> RefreshReport:
    """Makes what is stored of a repository equal to its folder; safe to repeat.

    A folder that cannot be read keeps what is stored of it, and does not keep the others from being refreshed.
    """
    parts = context.parts
    report = RefreshReport(repo)
    try:
        folder = Folder(checked_folder(place, ()), parse_allowlist(parts.include))
        stored = await parts.holdings.digests(parts.scope, repo)
        changes, report.version = await context.offload(inspect_folder, folder, stored)
    except Invalid as error:
        report.trouble = f"{repo}: {error}"
        log.warning("docs_not_refreshed", repo=repo, reason=str(error))
        return report
    report.unchanged = changes.unchanged
    report.skipped = changes.skipped
    await _write(context, folder, changes, report)
    known = (await parts.holdings.corpus(parts.scope)).versions.get(repo)
    if report.has_changes or report.version != known:
        await parts.holdings.set_version(parts.scope, repo, report.version)
    return report


def inspect_folder(folder: Folder, stored: Mapping[str, str]) -> tuple[FolderChanges, str | None]:
    """Reads the whole folder and its commit: work for an executor. Raises Invalid if it holds nothing of the stored."""
    changes = compare_folder(folder, stored)
    if changes.would_empty(len(stored)):
        raise Invalid(f"{folder.root} holds none of the {len(stored)} stored documents; nothing was removed")
    return changes, current_commit(folder.root)


async def _write(
    context: JobContext[RefreshParts], folder: Folder, changes: FolderChanges, report: RefreshReport
) -> None:
    """Writes what changed and removes what is gone; what was spoilt since it was compared, the next run sees."""
    holdings = context.parts.holdings
    scope = context.parts.scope
    for paths in batched(changes.changed, PAGE):
        sources, skipped = await context.offload(folder.read_all, paths)
        written = await holdings.put_all(scope, report.repo, sources, version=report.version)
        report.written += sum(change.has_changes for change in written)
        report.skipped.extend(skipped)
    if changes.gone:
        report.removed = len(await holdings.remove_all(scope, report.repo, changes.gone))
