"""Puts the temporal picks in front of the standard projection when the guard allows it (spec 09 §6)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lithify.memory.ranking.duplicates import distinct_turns
from lithify.memory.ranking.hops import Projected
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.scoring import Scored
from lithify.memory.temporal.coverage import Pick, TemporalCandidate, recovery_set, select
from lithify.memory.temporal.query import TemporalQuery
from lithify.memory.temporal.slots import covered_slots

RECEIPT_PREFIX = "memories::"  # receipts name a record by its collection, too

SlotCosines = Mapping[str, Sequence[float]]  # record id -> one cosine per slot


@dataclass(frozen=True, slots=True)
class TemporalProjection:
    """The order in which memories are packed; picks and recovered records (`memories::id`) are for the receipt."""

    order: tuple[Projected, ...]
    picks: tuple[Pick, ...] = ()
    recovered: tuple[str, ...] = ()


def project_temporally(
    query: TemporalQuery,
    direct: Sequence[Scored],
    rest: Sequence[Scored],
    standard: Sequence[Projected],
    profile: Profile,
    slot_cosines: SlotCosines | None = None,
) -> TemporalProjection:
    """`standard` (C2 with its hops, best first) comes back as it is unless the guard applies.

    `direct` is C2; `rest` is everything retrievable that was scored and may contain C2. Leave `slot_cosines` out when
    the embedder has no meaning to offer; a record without an entry is matched by its words alone.
    """
    if not query.guard.applies:
        return TemporalProjection(tuple(standard))
    # C2 first: a second copy of a turn it holds must not be recovered.
    known = {_key(scored): scored for scored in distinct_turns([*direct, *rest])}
    survivors = [_contender(scored) for scored in distinct_turns(direct)]
    recovered = recovery_set([_contender(s) for s in known.values()], {c.key for c in survivors}, profile)
    pool = _with_coverage([*survivors, *recovered], known, query.slots, profile, slot_cosines)
    picks = select(pool, query, profile)
    order = _ordered([_projected(pick, known[pick.key]) for pick in picks], standard, profile)
    return TemporalProjection(order, picks, tuple(contender.key for contender in recovered))


def _key(item: Scored) -> str:
    return f"{RECEIPT_PREFIX}{item.candidate.id}"


def _contender(scored: Scored) -> TemporalCandidate:
    return TemporalCandidate(_key(scored), scored.relevance, scored.score, scored.candidate.anchors)


def _with_coverage(
    pool: Sequence[TemporalCandidate],
    known: Mapping[str, Scored],
    slots: Sequence[str],
    profile: Profile,
    cosines: SlotCosines | None,
) -> list[TemporalCandidate]:
    candidates = [known[contender.key].candidate for contender in pool]
    rows = [(cosines or {}).get(candidate.id, [0.0] * len(slots)) for candidate in candidates]
    matrix = np.array(rows, dtype=np.float64).reshape(len(pool), len(slots))
    covered = covered_slots(slots, [c.text for c in candidates], matrix, profile.slot_threshold)
    return [replace(contender, covered=found) for contender, found in zip(pool, covered, strict=True)]


def _projected(pick: Pick, scored: Scored) -> Projected:
    return Projected(scored.candidate, pick.sigma, scored.relevance)


def _ordered(picked: list[Projected], standard: Iterable[Projected], profile: Profile) -> tuple[Projected, ...]:
    """Without filling, only hops may follow the picks, and they compete by σ."""
    merged = distinct_turns([*picked, *standard])
    if profile.temporal_fill:
        return tuple(merged)
    hops = [item for item in merged[len(picked) :] if item.parents]
    return tuple(sorted([*picked, *hops], key=lambda item: -item.sigma))
