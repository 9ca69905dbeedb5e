"""Searches short prefixes first and stops early where that is known to be safe (spec 03 §4)."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from lithify.errors import LithifyError
from lithify.events import AnyTenant
from lithify.memory.vectors.cascade import Cascade, TierTrace, full_scores, next_tier, trace_tier, usable_tiers
from lithify.memory.vectors.tiers import FULL_TIER, MISSING_TIERS, tier_vector
from lithify.store.contract import Query, VectorStore
from lithify.store.records import Hit, Vector, best_first
from lithify.store.where import Where

# A prefix ranks roughly: of the ten nearest, the first 64 of MiniLM's components put 60 % among their own first ten,
# and 98 % among their first eighty (docs/models.md). So a lower tier is asked for more than is wanted.
OVERSAMPLING: Final = 8

Seconds = Callable[[], float]


@dataclass(frozen=True, slots=True)
class CascadeAnswer:
    """Hits with their full-tier scores, best first, and one row for each tier that was searched."""

    hits: list[Hit] = field(default_factory=list)
    trace: list[TierTrace] = field(default_factory=list)


async def search_cascade(
    store: VectorStore,
    scope: AnyTenant,
    collection: str,
    where: Where,
    vector: Vector,
    limit: int,
    cascade: Cascade,
    usable: Collection[str],
    *,
    now: Seconds = time.perf_counter,
) -> CascadeAnswer:
    """Finds the nearest records to an embedded question.

    A lower tier that fails counts as empty; the full one may raise.
    """
    search = _Search(
        store=store,
        scope=scope,
        collection=collection,
        where=where,
        vector=vector,
        limit=limit,
        cascade=cascade,
    )
    hits: list[Hit] = []
    trace: list[TierTrace] = []
    started = now()
    while tier := next_tier(cascade, usable, trace, _ms(now() - started)):
        begun = now()
        hits = await search.full() if tier == FULL_TIER else await search.lower(tier)
        trace.append(trace_tier(cascade, tier, [hit.score for hit in hits], _ms(now() - begun)))
    return CascadeAnswer(search.rescore(hits) if trace[-1].tier != FULL_TIER else hits, trace)


async def complete_tiers(
    store: VectorStore, scope: AnyTenant, collection: str, where: Where, cascade: Cascade
) -> frozenset[str]:
    """Returns the lower tiers an early exit may come from.

    A record's tiers are one point, so a marker tells all there is.
    """
    if not cascade.lower:
        return frozenset()
    marked = await store.count(scope, collection, where.present(MISSING_TIERS))
    return usable_tiers(cascade, dict.fromkeys(cascade.names, 0), dirty=marked > 0)


@dataclass(frozen=True, slots=True)
class _Search:
    store: VectorStore
    scope: AnyTenant
    collection: str
    where: Where
    vector: Vector
    limit: int
    cascade: Cascade

    async def full(self) -> list[Hit]:
        return await self._nearest(FULL_TIER, self.limit)

    async def lower(self, tier: str) -> list[Hit]:
        try:
            return await self._nearest(tier, self.limit * OVERSAMPLING, FULL_TIER)
        except LithifyError:
            return []

    def rescore(self, hits: list[Hit]) -> list[Hit]:
        """Scores hits anew.

        Later thresholds are meant for full-dimension scores, and the order of a prefix is only roughly right.
        """
        scores = full_scores(self._prefix(FULL_TIER), np.array([hit.vectors[FULL_TIER] for hit in hits]))
        scored = (replace(hit, score=float(score), vectors={}) for hit, score in zip(hits, scores, strict=True))
        return best_first(scored)[: self.limit]

    async def _nearest(self, tier: str, count: int, *with_vectors: str) -> list[Hit]:
        query = Query(self.where, tier, self._prefix(tier), count, with_vectors=with_vectors)
        [hits] = await self.store.query_batch(self.scope, self.collection, [query])
        return hits

    def _prefix(self, tier: str) -> Vector:
        return tier_vector(self.vector, self.cascade.dims_of(tier))


def _ms(seconds: float) -> float:
    return seconds * 1000.0
