"""Where memories live: one small contract, fulfilled by Qdrant Edge in the process and by a Qdrant server."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from lithify.memory.vectors.tiers import TIER_NAMES
from lithify.store.contract import CollectionSpec, Erasure, Query, StoreHealth, VectorStore
from lithify.store.records import LEXICAL, Hit, Page, Record, SparseVector, Vector, point_id
from lithify.store.where import Where

# A process uses one engine at most, and the client of the other takes longer to import than all the rest.
ENGINES: Final = {"EdgeStore": "lithify.store.edge", "ServerStore": "lithify.store.server"}

if TYPE_CHECKING:
    from lithify.store.edge import EdgeStore
    from lithify.store.server import ServerStore
else:

    def __getattr__(name: str) -> type[VectorStore]:
        if name not in ENGINES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(ENGINES[name]), name)


__all__ = [
    "LEXICAL",
    "TIER_NAMES",
    "CollectionSpec",
    "EdgeStore",
    "Erasure",
    "Hit",
    "Page",
    "Query",
    "Record",
    "ServerStore",
    "SparseVector",
    "StoreHealth",
    "Vector",
    "VectorStore",
    "Where",
    "point_id",
]
