"""The collection `docs`: the model that fills it, and which state of a tenant's documents an answer was made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from lithify.embedding import Embedder
from lithify.events import TenantScope
from lithify.indexing import tier_names
from lithify.store import CollectionSpec, VectorStore, Where, point_id
from lithify.store.reading import every_record

COLLECTION: Final = "docs"

CORPUS: Final = "corpus"
"""Kind of the one record that every write of a tenant's documents moves."""

REPOSITORY: Final = "repository"
"""Kind of the record that holds a repository's version."""

EMPTY: Final = "empty"


@dataclass(frozen=True, slots=True)
class Space:
    """Holds what of a model is needed to store and to find chunks; `missing` are the tiers of one not yet embedded."""

    spec: CollectionSpec
    family: str
    missing: tuple[str, ...]

    @classmethod
    def of(cls, embedder: Embedder) -> Self:
        """Describes the space of a model.

        One without prefix tiers leaves the lower two vectors of every chunk empty; their length is nominal.
        """
        manifest = embedder.manifest
        low, middle, full = manifest.tiers or (manifest.dimensions,) * 3
        spec = CollectionSpec(COLLECTION, (low, middle, full), embedder.fingerprint)
        return cls(spec, manifest.family, tier_names(manifest))

    @property
    def fingerprint(self) -> str:
        return self.spec.fingerprint

    def id_of(self, tenant: str, kind: str, key: str) -> str:
        return point_id(tenant, kind, key, self.family)


@dataclass(frozen=True, slots=True)
class CorpusState:
    """`generation` changes with every write; `versions` are the commits the repositories were synced at."""

    generation: str = EMPTY
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RepoSummary:
    """One repository of the catalogue; `synced_at` is in ms."""

    repo: str
    version: str | None
    files: int
    chunks: int
    synced_at: int | None


async def read_corpus(store: VectorStore, scope: TenantScope, /) -> CorpusState:
    """Reads the state of a tenant's documents; one who has none has the state EMPTY."""
    where = Where().any_of("kind", (CORPUS, REPOSITORY))
    found = [record.payload async for record in every_record(store, TenantScope(scope.tenant), COLLECTION, where)]
    generations = [payload["generation"] for payload in found if payload["kind"] == CORPUS]
    versions = {one["repo"]: one["version"] for one in found if one["kind"] == REPOSITORY and one["version"]}
    return CorpusState(generations[0] if generations else EMPTY, dict(sorted(versions.items())))
