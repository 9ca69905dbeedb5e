"""A collection's records on their way into fresh files, while it goes on being read and written.

The engine never cleans its files by itself: what was deleted stays in its log and in its pages, word for word. Copying
what is alive and dropping the rest is the one way that is certain, and needs nothing but the engine's own calls.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol
from uuid import UUID

import structlog

from lithify.errors import LithifyError, Unavailable
from lithify.events import EVERY_TENANT
from lithify.memory.vectors.tiers import TIER_NAMES
from lithify.store.contract import TiersById
from lithify.store.edge_collection import EdgeCollection
from lithify.store.records import LEXICAL, Record
from lithify.store.scoping import ScopedWhere, confine
from lithify.store.where import EVERY_RECORD

# Some 15 ms of the writing thread; searches come in between the engine's steps, other writes between two pages.
PAGE: Final = 64
VECTORS: Final = (*TIER_NAMES, LEXICAL)
EVERYTHING: Final = confine(EVERY_TENANT, EVERY_RECORD)
LOWEST: Final = str(UUID(int=0))

log = structlog.get_logger(__name__)


class Writable(Protocol):
    """What can be done to a collection, and is done to its copy as well."""

    def upsert(self, records: Sequence[Record], replacing: ScopedWhere) -> None: ...

    def delete(self, where: ScopedWhere) -> None: ...

    def set_payloads(self, updates: Sequence[tuple[ScopedWhere, Mapping[str, Any]]]) -> None: ...

    def set_vectors(self, stored: ScopedWhere, tiers: TiersById) -> None: ...


@dataclass(slots=True)
class GrowingCopy:
    """Holds exactly what the source holds of the ids below `frontier`, and all of it once that is None.

    For that every write to the source is done here as well, to what is here. All calls come from the writing thread.
    """

    source: EdgeCollection
    target: EdgeCollection
    frontier: str | None = LOWEST
    is_broken: bool = False

    def copy_page(self) -> bool:
        """Copies the next records; False once there are none.

        Raises Unavailable if the copy has missed a write and is good for nothing.
        """
        if self.is_broken:
            raise Unavailable(f"a write to {self.source.folder} failed while it was copied into fresh files; try again")
        if self.frontier is None:
            return False
        page = self.source.scroll(EVERYTHING, PAGE, self.frontier, VECTORS)
        self.target.upsert(page.records, EVERYTHING)
        self.frontier = page.next
        return True

    def write(self, act: Callable[[Writable], None]) -> None:
        """Writes to the source, then to the copy; where that fails, the copy is given up and not the write."""
        try:
            act(self.source)
        except BaseException:
            # Nobody knows how much of it was written.
            self.is_broken = True
            raise
        if self.is_broken:
            return
        try:
            act(self)
        except LithifyError as error:
            log.warning("copy_given_up", folder=self.source.folder.name, error=type(error).__name__)
            self.is_broken = True

    def upsert(self, records: Sequence[Record], replacing: ScopedWhere) -> None:
        """Writes what lies below the frontier; the rest comes with its page, as the source has it then."""
        copied = [record for record in records if self.frontier is None or UUID(record.id) < UUID(self.frontier)]
        if copied:
            self.target.upsert(copied, replacing)

    def delete(self, where: ScopedWhere) -> None:
        self.target.delete(where)

    def set_payloads(self, updates: Sequence[tuple[ScopedWhere, Mapping[str, Any]]]) -> None:
        self.target.set_payloads(updates)

    def set_vectors(self, stored: ScopedWhere, tiers: TiersById) -> None:
        self.target.set_vectors(stored, tiers)
