"""Decides which tier answers a query (spec 03 §4) and how a tier that could not be written is repaired (§3)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from lithify.errors import Invalid, Misconfigured
from lithify.memory.bounds import FloatArray, number_or
from lithify.memory.vectors.tiers import FULL_TIER, TIER_NAMES, tier_vectors

DEADLINE_MS = 50.0


@dataclass(frozen=True, slots=True)
class Cascade:
    """It holds tier sizes and exit thresholds of one embedding profile, both calibrated for its model.

    A model that was not trained for prefixes has one size, no threshold and is searched in full.
    """

    dims: tuple[int, ...]
    thresholds: tuple[float, ...]
    deadline_ms: float = DEADLINE_MS

    def __post_init__(self) -> None:
        if not 1 <= len(self.dims) <= len(TIER_NAMES) or len(self.thresholds) != len(self.dims) - 1:
            raise Misconfigured(f"tiers {self.dims} need one threshold fewer than sizes, got {self.thresholds}")
        if self.dims[0] < 1 or any(small >= large for small, large in pairwise(self.dims)):
            raise Misconfigured(f"tier sizes must be positive and grow, got {self.dims}")
        if not all(-1.0 <= threshold <= 1.0 for threshold in self.thresholds):
            raise Misconfigured(f"tier thresholds are dot products in [-1, 1], got {self.thresholds}")

    @property
    def names(self) -> tuple[str, ...]:
        return TIER_NAMES[-len(self.dims) :]

    @property
    def lower(self) -> tuple[str, ...]:
        return self.names[:-1]

    def dims_of(self, tier: str) -> int:
        return self.dims[self.names.index(tier)]

    def exits(self, tier: str, best: float) -> bool:
        """Returns whether the tier answers: the full one always, a lower one at or above its threshold (X15)."""
        return tier == FULL_TIER or best >= self.thresholds[self.lower.index(tier)]


@dataclass(frozen=True, slots=True)
class TierTrace:
    """It is one searched tier as it appears in a receipt."""

    tier: str
    dims: int
    best: float
    latency_ms: float
    exited: bool


def trace_tier(cascade: Cascade, tier: str, scores: Sequence[float], latency_ms: float) -> TierTrace:
    """Describes a searched tier; one without hits, or one whose search failed, has a best score of 0."""
    best = max((number_or(score, 0.0) for score in scores), default=0.0)
    return TierTrace(
        tier=tier,
        dims=cascade.dims_of(tier),
        best=best,
        latency_ms=latency_ms,
        exited=cascade.exits(tier, best),
    )


def next_tier(
    cascade: Cascade, usable: Collection[str], searched: Sequence[TierTrace], elapsed_ms: float
) -> str | None:
    """Returns the tier to search now, or None once a search has settled the query.

    Past the deadline only the full tier is asked.
    """
    if searched and searched[-1].exited:
        return None
    if elapsed_ms >= cascade.deadline_ms:
        return FULL_TIER
    done = cascade.names.index(searched[-1].tier) + 1 if searched else 0
    return next((tier for tier in cascade.lower[done:] if tier in usable), FULL_TIER)


def usable_tiers(cascade: Cascade, counts: Mapping[str, int], *, dirty: bool) -> frozenset[str]:
    """Returns the lower tiers that hold every record; an early exit from a partial one would hide the rest.

    `dirty` says that some record of the searched set is marked as missing a tier.
    """
    complete = (tier for tier in cascade.lower if counts.get(tier, 0) == counts.get(FULL_TIER, 0))
    return frozenset() if dirty else frozenset(complete)


def full_scores(query: npt.ArrayLike, vectors: npt.ArrayLike) -> FloatArray:
    """Returns full-tier dot products of the hits of an early exit: all later thresholds are meant for these."""
    return np.asarray(vectors, dtype=np.float64) @ np.asarray(query, dtype=np.float64)


class DropReason(StrEnum):
    MALFORMED = "malformed marker"
    UNKNOWN_TIER = "unknown tier"
    NO_METADATA = "metadata missing"
    NO_VECTOR = "full vector absent, short or not finite"


@dataclass(frozen=True, slots=True)
class Restore:
    """It asks to write this vector, then to remove the marker, which stays when the write fails."""

    tier: str
    vector: FloatArray


@dataclass(frozen=True, slots=True)
class Drop:
    """It asks to remove the marker, which can never be repaired."""

    reason: DropReason


def plan_backfill(
    cascade: Cascade, marker: object, full_vector: npt.ArrayLike | None, *, has_metadata: bool
) -> Restore | Drop:
    """Returns what to do for one marker, an element of a record's missing tiers."""
    if not isinstance(marker, str) or not marker:
        return Drop(DropReason.MALFORMED)
    if marker not in cascade.lower:
        return Drop(DropReason.UNKNOWN_TIER)
    if full_vector is None:
        return Drop(DropReason.NO_VECTOR)
    if not has_metadata:
        return Drop(DropReason.NO_METADATA)
    try:
        tiers = dict(zip(cascade.names, tier_vectors(full_vector, cascade.dims), strict=True))
    except Invalid:
        return Drop(DropReason.NO_VECTOR)
    return Restore(marker, tiers[marker])
