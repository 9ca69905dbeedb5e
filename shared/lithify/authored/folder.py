"""Keeps the authored documents of one tenant equal to the Markdown files of a folder."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import structlog

from lithify.authored.document import Origin, check_size, content_hash
from lithify.authored.documents import UNRESERVED, AuthoredDocuments
from lithify.errors import Invalid, Misconfigured, Unavailable
from lithify.events import TenantScope

SUFFIX: Final = ".md"
DEBOUNCE_S: Final = 0.15  # editors write a file in several steps (spec 11)
POLL_S: Final = 0.5  # between two looks at a quiet folder

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Says what a file looks like from outside; content is only read when this changes."""

    size: int
    mtime_ns: int


def scan_folder(root: Path) -> dict[str, FileStamp]:
    """Finds every Markdown file below the folder by its relative name; what leads outside or is hidden is left out.

    Raises Unavailable if the folder itself is gone: a lost mount must not look like deleted documents.
    """
    if not root.is_dir():
        raise Unavailable(f"the folder of authored documents {root} cannot be read")
    inside = root.resolve()
    found = {}
    for path in root.rglob(f"*{SUFFIX}"):
        name = path.relative_to(root).as_posix()
        stamp = None if _is_hidden(name) else _stamp(path, inside)
        if stamp is not None:
            found[name] = stamp
    return found


def read_file(root: Path, name: str) -> bytes | None:
    """Reads a file; None if it is gone, or leads outside by now."""
    path = root / name
    try:
        return path.read_bytes() if _stamp(path, root.resolve()) is not None else None
    except FileNotFoundError:
        return None


def _is_hidden(name: str) -> bool:
    """Says whether a name is hidden: tools keep their own state in such folders, in Markdown too."""
    return any(part.startswith(".") for part in name.split("/"))


def _stamp(path: Path, inside: Path) -> FileStamp | None:
    real = Path(os.path.realpath(path))  # Path.resolve raises for links in a circle
    if not real.is_relative_to(inside) or not real.is_file():
        return None
    try:
        status = real.stat()
    except FileNotFoundError:  # a file may go between two looks
        return None
    return FileStamp(status.st_size, status.st_mtime_ns)


@dataclass(slots=True)
class Debounce:
    """Remembers how every file looked when it was last handled, and since when it looks as it does now."""

    handled: dict[str, FileStamp] = field(default_factory=dict)
    waiting: dict[str, tuple[FileStamp | None, float]] = field(default_factory=dict)

    def due(self, seen: Mapping[str, FileStamp], now: float) -> dict[str, FileStamp | None]:
        """Returns the files that changed, appeared or went (None), and have looked the same for long enough since."""
        changed = {name: seen.get(name) for name in {*seen, *self.handled} if seen.get(name) != self.handled.get(name)}
        self.waiting = {name: self._since(name, stamp, now) for name, stamp in changed.items()}
        return {name: stamp for name, (stamp, since) in self.waiting.items() if now - since >= DEBOUNCE_S}

    def mark_handled(self, name: str, stamp: FileStamp | None) -> None:
        self.waiting.pop(name, None)
        if stamp is None:
            self.handled.pop(name, None)
        else:
            self.handled[name] = stamp

    def _since(self, name: str, stamp: FileStamp | None, now: float) -> tuple[FileStamp | None, float]:
        waited = self.waiting.get(name)
        return waited if waited and waited[0] == stamp else (stamp, now)


class FolderWatch:
    """Polls, because change notices are lost on network mounts and in containers.

    A file that cannot become a document is reported and leaves its earlier version in force.
    """

    def __init__(self, root: Path, documents: AuthoredDocuments, scope: TenantScope) -> None:
        self._root = root
        self._documents = documents
        self._scope = scope
        self._debounce = Debounce()
        self._hashes: dict[str, str] = {}

    async def sync(self) -> None:
        """Makes the documents equal to the files at once; call it before `check_startup`, which judges the result.

        Raises Misconfigured without a folder, Unavailable while store or Redis is away.
        """
        if not self._root.is_dir():
            raise Misconfigured(f"authored_dir: there is no folder {self._root}")
        known = [one for one in await self._documents.all(self._scope) if one.origin is Origin.FOLDER]
        self._hashes = {document.name: document.content_hash for document in known}
        seen = await asyncio.to_thread(scan_folder, self._root)
        # The reserve is judged once, over all files together.
        unreserved = replace(self._documents, reserve=UNRESERVED)
        for name in sorted({*seen, *self._hashes}):
            await self._follow(unreserved, name, seen.get(name))

    async def run(self) -> None:
        """Follows changes until it is cancelled; an outage is waited out."""
        while True:
            await asyncio.sleep(DEBOUNCE_S if self._debounce.waiting else POLL_S)
            try:
                await self.look()
            except (Unavailable, OSError) as error:
                log.warning("authored_folder_waits", reason=str(error))
                await asyncio.sleep(POLL_S)

    async def look(self) -> None:
        """Looks at the folder once, and takes over what has settled since it changed."""
        seen = await asyncio.to_thread(scan_folder, self._root)
        due = self._debounce.due(seen, asyncio.get_running_loop().time())
        for name, stamp in sorted(due.items()):
            await self._follow(self._documents, name, stamp)

    async def _follow(self, documents: AuthoredDocuments, name: str, stamp: FileStamp | None) -> None:
        try:
            await (self._remove(documents, name) if stamp is None else self._take_over(documents, name, stamp))
        except (Invalid, OSError) as error:
            log.warning("authored_file_refused", document=name, reason=str(error))
        # Not reached in an outage: the file stays due.
        self._debounce.mark_handled(name, stamp)

    async def _take_over(self, documents: AuthoredDocuments, name: str, stamp: FileStamp) -> None:
        check_size(name, stamp.size)
        raw = await asyncio.to_thread(read_file, self._root, name)
        if raw is None or self._hashes.get(name) == content_hash(raw):
            return
        await documents.put(self._scope, name, raw, Origin.FOLDER)
        self._hashes[name] = content_hash(raw)
        log.info("authored_document_stored", document=name, size=len(raw))

    async def _remove(self, documents: AuthoredDocuments, name: str) -> None:
        await documents.delete(self._scope, name)
        self._hashes.pop(name, None)
        log.info("authored_document_removed", document=name)
