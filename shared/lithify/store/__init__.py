"""Where memories live: one small contract, fulfilled by Qdrant Edge in the process and by a Qdrant server."""

from lithify.store.contract import CollectionSpec, Query, StoreHealth, StoreScope, VectorStore
from lithify.store.edge import EdgeStore
from lithify.store.identity import point_id
from lithify.store.records import LEXICAL, TIER_NAMES, Hit, Page, Record, SparseVector, Vector
from lithify.store.server import ServerStore
from lithify.store.where import Where

__all__ = [
    "LEXICAL",
    "TIER_NAMES",
    "CollectionSpec",
    "EdgeStore",
    "Hit",
    "Page",
    "Query",
    "Record",
    "ServerStore",
    "SparseVector",
    "StoreHealth",
    "StoreScope",
    "Vector",
    "VectorStore",
    "Where",
    "point_id",
]
