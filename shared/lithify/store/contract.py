"""The one contract of the vector store; Edge and the Qdrant server fulfil it, one test suite checks both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from lithify.errors import Invalid
from lithify.events import AnyTenant
from lithify.memory.vectors.tiers import TIER_NAMES
from lithify.store.records import LEXICAL, Hit, Page, Record, SparseVector, Vector
from lithify.store.where import EVERY_RECORD, Where

TiersById: TypeAlias = Mapping[str, Mapping[str, Vector]]
PayloadsById: TypeAlias = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class CollectionSpec:
    """A collection, the lengths of its tiers, and the fingerprint of the model that fills it."""

    name: str
    tiers: tuple[int, int, int]
    fingerprint: str

    def __post_init__(self) -> None:
        if not self.name or not all(char.isascii() and (char.isalnum() or char in "-_.") for char in self.name):
            raise Invalid(f"collection name {self.name!r} must consist of letters, digits, '-', '_' and '.'")
        if self.name.startswith("."):
            raise Invalid(f"collection name {self.name!r} must not start with a dot")

    @property
    def lengths(self) -> dict[str, int]:
        return dict(zip(TIER_NAMES, self.tiers, strict=True))


@dataclass(frozen=True, slots=True)
class Query:
    """One search; `least_score` leaves out weaker hits, `fields` what is not needed of their payloads."""

    where: Where
    using: str
    vector: Vector | SparseVector
    limit: int
    with_vectors: tuple[str, ...] = field(default=())
    least_score: float | None = None
    fields: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.using not in (*TIER_NAMES, LEXICAL):
            raise Invalid(f"cannot search using {self.using!r}; known are {', '.join((*TIER_NAMES, LEXICAL))}")
        if (self.using == LEXICAL) != isinstance(self.vector, SparseVector):
            raise Invalid(f"a search using {self.using} got a {type(self.vector).__name__}")
        if self.limit < 1:
            raise Invalid(f"a search needs a limit of at least 1, not {self.limit}")
        if unknown := set(self.with_vectors) - set(TIER_NAMES):
            raise Invalid(f"hits can carry {', '.join(TIER_NAMES)}, not {', '.join(sorted(unknown))}")


class Erasure(StrEnum):
    """What became of the wish to have deleted records out of the engine's files."""

    DONE = "done"
    POSTPONED = "postponed"  # `erase_postponed` does it
    ENGINE = "engine"  # the engine does it in its own time, and cannot be hurried


@dataclass(frozen=True, slots=True)
class StoreHealth:
    engine: str
    ready: bool
    version: str | None = None
    reason: str | None = None


class VectorStore(Protocol):
    """Records of all tenants, reachable only through a scope.

    The scope comes first and by position: a record outside it is neither seen, changed nor counted, even by its id.
    Every write is durable and visible to every later read when the call returns, and may be repeated.
    Raises Invalid for input that can never succeed, Unavailable while the engine cannot serve (then nothing is
    promised about the write: repeat it), of that Doubtful when it failed at a request that may be more than it can bear
    (`writability` tells which), Misconfigured when the stored data or the key does not fit the configuration.
    """

    async def ensure(self, spec: CollectionSpec) -> None:
        """Creates the collection if it is missing; refuses one that holds vectors of another model."""

    async def upsert(
        self, scope: AnyTenant, collection: str, records: Sequence[Record], /, *, replacing: Where = EVERY_RECORD
    ) -> None:
        """Writes whole records; an existing one with the same id is replaced, payload and vectors.

        Where an existing one does not match `replacing`, or lies outside the scope, it stays as it is. The engine
        decides that in the moment of writing, so that `NO_RECORD` adds what is missing whoever else writes meanwhile.
        """

    async def query_batch(self, scope: AnyTenant, collection: str, queries: Sequence[Query], /) -> list[list[Hit]]:
        """Returns one list for each query, in their order, best first; one round trip."""

    async def fetch(
        self, scope: AnyTenant, collection: str, ids: Sequence[str], /, with_vectors: Sequence[str] = ()
    ) -> list[Record]:
        """Returns records in the order asked for; ids unknown to the scope are left out."""

    async def scroll(
        self,
        scope: AnyTenant,
        collection: str,
        where: Where,
        /,
        *,
        limit: int,
        after: str | None = None,
        with_vectors: Sequence[str] = (),
    ) -> Page:
        """Returns records in the order of their ids; pass `next` of a page as `after` to go on."""

    async def count(self, scope: AnyTenant, collection: str, where: Where, /) -> int:
        """Counts exactly what matches."""

    async def delete(self, scope: AnyTenant, collection: str, where: Where, /) -> None:
        """Removes what matches; a tenant's empty `where` removes all of the tenant."""

    async def set_payload(self, scope: AnyTenant, collection: str, where: Where, payload: Mapping[str, Any], /) -> None:
        """Merges these keys into what matches; tenant, user and session of a record are fixed by its upsert."""

    async def set_payloads(self, scope: AnyTenant, collection: str, payloads: PayloadsById, /) -> None:
        """Merges keys of its own into each record named by its id: one round trip, one sync."""

    async def set_vectors(self, scope: AnyTenant, collection: str, tiers: TiersById, /) -> None:
        """Adds or replaces these tiers of stored records by their ids; payload, words and other tiers stay.

        Unlike an upsert it brings nothing back: an id the scope does not hold (any more) is left out.
        """

    async def snapshot(self, collection: str, folder: Path) -> Path:
        """Makes a consistent copy of the collection inside the folder; returns where it lies."""

    async def collections(self) -> list[CollectionSpec]:
        """Returns the collections there are, by name."""

    async def switch(self, name: str, other: str) -> None:
        """Exchanges the names of two collections in one step; nothing is lost until the other one is dropped."""

    async def drop(self, collection: str) -> None:
        """Removes a collection and its records; a missing one is no error."""

    async def erase_deleted(self, collection: str, *, most: int | None = None) -> Erasure:
        """Removes from the engine's files what deleted and replaced records have left there.

        Postpones that if the collection has more than `most` records. May be repeated; what is deleted meanwhile may
        or may not be erased with the rest. Raises Unavailable, above all without room for a second copy.
        """

    async def erase_postponed(self) -> list[str]:
        """Erases what was postponed, also by an earlier process, and returns the names of the collections."""

    async def health(self) -> StoreHealth:
        """Tells whether the engine can serve; never raises."""

    async def close(self) -> None:
        """Leaves everything durable; may be called twice."""
