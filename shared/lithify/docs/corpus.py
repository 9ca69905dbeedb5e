"""Which state of a tenant's documents an answer was made from, and what the catalogue tells of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from lithify.docs.space import COLLECTION
from lithify.events import TenantScope
from lithify.store import VectorStore, Where
from lithify.store.reading import every_record

CORPUS: Final = "corpus"
"""Kind of the one record that every write of a tenant's documents moves."""

REPOSITORY: Final = "repository"
"""Kind of the record that holds a repository's version."""

EMPTY: Final = "empty"


@dataclass(frozen=True, slots=True)
class Corpus:
    """`generation` changes with every write; `versions` are the commits the repositories were synced at."""

    generation: str = EMPTY
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shelf:
    """One repository of the catalogue; `synced_at` in ms."""

    repo: str
    version: str | None
    files: int
    chunks: int
    synced_at: int | None


async def read_corpus(store: VectorStore, scope: TenantScope, /) -> Corpus:
    where = Where().any_of("kind", (CORPUS, REPOSITORY))
    found = [record.payload async for record in every_record(store, TenantScope(scope.tenant), COLLECTION, where)]
    generations = [payload["generation"] for payload in found if payload["kind"] == CORPUS]
    versions = {one["repo"]: one["version"] for one in found if one["kind"] == REPOSITORY and one["version"]}
    return Corpus(generations[0] if generations else EMPTY, dict(sorted(versions.items())))
