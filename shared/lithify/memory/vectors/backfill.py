"""Decides how a tier that could not be written is repaired (spec 03 §3)."""

from dataclasses import dataclass
from enum import StrEnum

import numpy.typing as npt

from lithify.errors import Invalid
from lithify.memory.columns import FloatArray
from lithify.memory.vectors.cascade import Cascade
from lithify.memory.vectors.tiers import tier_vectors


class DropReason(StrEnum):
    MALFORMED = "malformed marker"
    UNKNOWN_TIER = "unknown tier"
    NO_METADATA = "metadata missing"
    NO_VECTOR = "full vector absent, short or not finite"


@dataclass(frozen=True, slots=True)
class Restore:
    """Write this vector, then remove the marker; keep the marker when the write fails."""

    tier: str
    vector: FloatArray


@dataclass(frozen=True, slots=True)
class Drop:
    """Remove the marker: it can never be repaired."""

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
