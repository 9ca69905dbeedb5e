"""The collection `docs` and the model that fills it."""

from dataclasses import dataclass
from typing import Final, Self

from lithify.embedding import Embedder
from lithify.indexing import tier_names
from lithify.store import CollectionSpec, point_id

COLLECTION: Final = "docs"


@dataclass(frozen=True, slots=True)
class Space:
    """What of a model is needed to store and to find chunks; `missing` are the tiers of a chunk not yet embedded."""

    spec: CollectionSpec
    family: str
    missing: tuple[str, ...]

    @classmethod
    def of(cls, embedder: Embedder) -> Self:
        """A model without prefix tiers leaves the lower two vectors of every chunk empty; their length is nominal."""
        manifest = embedder.manifest
        low, middle, full = manifest.tiers or (manifest.dimensions,) * 3
        spec = CollectionSpec(COLLECTION, (low, middle, full), embedder.fingerprint)
        return cls(spec, manifest.family, tier_names(manifest))

    @property
    def fingerprint(self) -> str:
        return self.spec.fingerprint

    def id_of(self, tenant: str, kind: str, key: str) -> str:
        return point_id(tenant, kind, key, self.family)
