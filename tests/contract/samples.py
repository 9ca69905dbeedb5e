"""Small records for the store's tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lithify.events import TenantScope
from lithify.store import Query, Record, SparseVector, VectorStore, Where, point_id

TIERS = (2, 3, 4)
ACME = TenantScope("acme")
RIVAL = TenantScope("rival")


def id_of(key: str, tenant: str = "acme") -> str:
    return point_id(tenant, "turn", key, "test")


def record(key: str, l3: Sequence[float] = (1, 0, 0, 0), terms: Sequence[int] = (1,), **payload: Any) -> Record:
    """A complete record; its tiers are prefixes of `l3`."""
    full = np.array(l3, np.float32)
    tenant = payload.get("tenant", "acme")
    return Record(
        id=id_of(key, tenant),
        payload={"tenant": tenant, "user": "ada", "event_id": key, **payload},
        vectors={name: full[:size] for name, size in zip(("l1", "l2", "l3"), TIERS, strict=True)},
        lexical=SparseVector(tuple(terms), (1.0,) * len(terms)),
    )


def dense(l3: Sequence[float] = (1, 0, 0, 0), where: Where | None = None, limit: int = 10) -> Query:
    return Query(where or Where(), "l3", np.array(l3, np.float32), limit)


def lexical(terms: Sequence[int], where: Where | None = None, limit: int = 10) -> Query:
    return Query(where or Where(), "lexical", SparseVector(tuple(terms), (1.0,) * len(terms)), limit)


async def keys(store: VectorStore, collection: str, where: Where, scope: TenantScope = ACME) -> set[str]:
    """The event ids that match, each known to occur once."""
    page = await store.scroll(scope, collection, where, limit=1000)
    found = [found.payload["event_id"] for found in page.records]
    assert len(found) == len(set(found))
    assert len(found) == await store.count(scope, collection, where)
    return set(found)
