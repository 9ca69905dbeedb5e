"""A store of a few lines that acts on the tier decisions: one point per record, its marker inside the point."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from lithify.errors import Unavailable
from lithify.memory.bounds import FloatArray
from lithify.memory.vectors.cascade import (
    Cascade,
    Drop,
    Restore,
    TierTrace,
    full_scores,
    next_tier,
    plan_backfill,
    trace_tier,
    usable_tiers,
)
from lithify.memory.vectors.tiers import FULL_TIER, tier_vector, tier_vectors


@dataclass
class Point:
    vectors: dict[str, FloatArray]
    missing: list[object]
    has_metadata: bool = True


@dataclass
class Answer:
    hits: list[tuple[str, float]]
    trace: list[TierTrace]

    @property
    def tier(self) -> str:
        return self.trace[-1].tier


@dataclass
class TierStore:
    cascade: Cascade
    points: dict[str, Point] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)

    def insert(self, name: str, vector: npt.ArrayLike, failing: Collection[str] = ()) -> None:
        tiers = dict(zip(self.cascade.names, tier_vectors(vector, self.cascade.dims), strict=True))
        # Without the full vector nothing is stored; every other failed tier is marked on its own (X16).
        if FULL_TIER in failing:
            raise Unavailable("the full vector could not be written")
        written = {tier: vector for tier, vector in tiers.items() if tier not in failing}
        self.points[name] = Point(written, [tier for tier in self.cascade.lower if tier in failing])

    def delete(self, name: str) -> None:
        del self.points[name]

    def markers(self) -> list[tuple[str, object]]:
        return [(name, marker) for name, point in self.points.items() for marker in point.missing]

    def holding(self, tier: str) -> set[str]:
        return {name for name, point in self.points.items() if tier in point.vectors}

    def backfill(self, failing: Collection[str] = ()) -> list[Restore | Drop]:
        actions = []
        for name, marker in self.markers():
            point = self.points[name]
            action = plan_backfill(self.cascade, marker, point.vectors.get("l3"), has_metadata=point.has_metadata)
            actions.append(action)
            if isinstance(action, Restore):
                if action.tier in failing:
                    continue
                point.vectors[action.tier] = action.vector
            point.missing.remove(marker)
        return actions

    def search(self, query: npt.ArrayLike, k: int, elapsed_ms: Sequence[float] = (0.0, 0.0, 0.0)) -> Answer:
        counts = {tier: len(self.holding(tier)) for tier in self.cascade.names}
        usable = usable_tiers(self.cascade, counts, dirty=bool(self.markers()))
        trace: list[TierTrace] = []
        hits: list[tuple[str, float]] = []
        while tier := next_tier(self.cascade, usable, trace, elapsed_ms[min(len(trace), 2)]):
            hits = self._top(tier, query, k)
            trace.append(trace_tier(self.cascade, tier, [score for _, score in hits], 0.0))
        return Answer(self._rescored([name for name, _ in hits], query), trace)

    def _top(self, tier: str, query: npt.ArrayLike, k: int) -> list[tuple[str, float]]:
        if tier in self.broken:
            return []
        u = tier_vector(query, self.cascade.dims_of(tier))
        scores = [(name, float(self.points[name].vectors[tier] @ u)) for name in self.holding(tier)]
        return sorted(scores, key=lambda pair: (-pair[1], pair[0]))[:k]

    def _rescored(self, names: Sequence[str], query: npt.ArrayLike) -> list[tuple[str, float]]:
        if not names:
            return []
        u = tier_vector(query, self.cascade.dims[-1])
        scores = full_scores(u, np.array([self.points[name].vectors["l3"] for name in names]))
        return list(zip(names, scores.tolist(), strict=True))
