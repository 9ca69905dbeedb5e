"""Selects turns that together cover the events of a question about time, and packs them first (spec 09 §4 to §6)."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from lithify.memory.bounds import clamp01
from lithify.memory.ranking.duplicates import distinct_turns
from lithify.memory.ranking.hops import Projected
from lithify.memory.ranking.profile import Profile, TemporalWeights
from lithify.memory.ranking.scoring import Scored
from lithify.memory.temporal.query import TemporalQuery, covered_slots
from lithify.memory.vectors.background import to_usual

RECEIPT_PREFIX = "memories::"  # receipts name a record by its collection, too

SlotCosines = Mapping[str, Sequence[float]]  # record id -> one cosine per slot


@dataclass(frozen=True, slots=True)
class TemporalCandidate:
    key: str
    sim: float
    score: float  # S_final
    anchors: float  # A(d)
    covered: frozenset[int] = frozenset()  # indices of the slots it speaks of


@dataclass(frozen=True, slots=True)
class Pick:
    key: str
    sigma: float  # the value at the moment of the pick (X48): a later pick must not take the credit back
    gain: float  # ΔΦ at that moment


Appraisal = Callable[[TemporalCandidate, AbstractSet[int]], Pick]


def marginal_coverage(covered: AbstractSet[int], seen: AbstractSet[int], slot_count: int) -> float:
    """Returns ΔΦ in [0, 1]: the share of slots this document is the first to cover."""
    return clamp01(len(covered - seen) / max(slot_count, 1))


def projection_score(xi: float, score: float, anchors: float, gain: float, weights: TemporalWeights) -> float:
    """Returns S_proj in [0, 1]: S_final moved towards the coverage score as far as ξ says."""
    mu, nu, rho = weights.normalise()
    relevance = clamp01(score)
    pull = clamp01(xi)
    coverage = mu * relevance + nu * clamp01(anchors) + rho * clamp01(gain)
    return clamp01((1.0 - pull) * relevance + pull * coverage)


def recovery_set(
    rest: Sequence[TemporalCandidate], survivors: Collection[str], profile: Profile
) -> tuple[TemporalCandidate, ...]:
    """Returns the best-dated documents that the second pass dropped; dated turns are often a weak topical match."""
    eligible = [d for d in rest if d.sim >= profile.recovery_floor and d.key not in survivors]
    eligible.sort(key=lambda d: (-d.anchors, -d.sim, d.key))
    return tuple(eligible[: profile.recovery_size])


def select_picks(pool: Sequence[TemporalCandidate], query: TemporalQuery, profile: Profile) -> tuple[Pick, ...]:
    """Selects S*: the picks by S_proj, at most min(k_cov, k2)."""

    def appraise(document: TemporalCandidate, seen: AbstractSet[int]) -> Pick:
        gain = marginal_coverage(document.covered, seen, len(query.slots))
        sigma = projection_score(
            query.xi, document.score, anchors=document.anchors, gain=gain, weights=profile.temporal
        )
        return Pick(document.key, sigma, gain)

    return pick_greedily(pool, appraise, min(profile.coverage_size, profile.final_size), profile.coverage_floor)


def pick_greedily(pool: Sequence[TemporalCandidate], appraise: Appraisal, limit: int, stop: float) -> tuple[Pick, ...]:
    """Picks up to ``limit``, each the best addition to the slots seen before it; ties go by score, then key."""
    left = list(pool)
    seen: set[int] = set()
    picks: list[Pick] = []
    while left and len(picks) < limit:
        offers = [(appraise(document, seen), document) for document in left]
        pick, best = min(offers, key=lambda offer: (-offer[0].sigma, -clamp01(offer[1].score), offer[1].key))
        if pick.sigma < stop:
            break
        picks.append(pick)
        seen |= best.covered
        left.remove(best)
    return tuple(picks)


@dataclass(frozen=True, slots=True)
class TemporalProjection:
    """Memories are packed in this `order`; picks and recovered records (`memories::id`) are for the receipt."""

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
    """Returns `standard` (C2 with its hops, best first) as it is unless the guard applies.

    `direct` is C2; `rest` is everything retrievable that was scored and may contain C2. Leave `slot_cosines` out when
    the embedder has no meaning to offer; a record without an entry is matched by its words alone.
    """
    if not query.guard.applies:
        return TemporalProjection(tuple(standard))
    # C2 first: a second copy of a turn it holds must not be recovered.
    known = {_key(scored): scored for scored in distinct_turns([*direct, *rest])}
    survivors = [_contender(scored) for scored in distinct_turns(direct)]
    recovered = recovery_set([_contender(s) for s in known.values()], {c.key for c in survivors}, profile)
    pool = _add_coverage([*survivors, *recovered], known, slots=query.slots, profile=profile, cosines=slot_cosines)
    picks = select_picks(pool, query, profile)
    order = _merge_orders([_project_pick(pick, known[pick.key]) for pick in picks], standard, profile)
    return TemporalProjection(order, picks, tuple(contender.key for contender in recovered))


def _key(item: Scored) -> str:
    return f"{RECEIPT_PREFIX}{item.candidate.id}"


def _contender(scored: Scored) -> TemporalCandidate:
    """Takes the cosine for the similarity: a mix that is relative to its list says nothing about a floor."""
    cosine = scored.candidate.signals.cosine
    imprint = scored.candidate.imprint
    sim = scored.relevance if cosine is None else cosine
    if cosine is not None and imprint is not None:
        sim = to_usual(cosine, imprint.background.questions)
    return TemporalCandidate(_key(scored), sim, scored.score, scored.candidate.anchors)


def _add_coverage(
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
    return [
        replace(contender, covered=found if contender.anchors > 0.0 or not profile.dated_coverage else frozenset())
        for contender, found in zip(pool, covered, strict=True)
    ]


def _project_pick(pick: Pick, scored: Scored) -> Projected:
    return Projected(scored.candidate, pick.sigma, scored.relevance)


def _merge_orders(picked: list[Projected], standard: Iterable[Projected], profile: Profile) -> tuple[Projected, ...]:
    """Lets only hops follow the picks where the profile does not fill, and they compete by σ."""
    merged = distinct_turns([*picked, *standard])
    if profile.temporal_fill:
        return tuple(merged)
    hops = [item for item in merged[len(picked) :] if item.parents]
    return tuple(sorted([*picked, *hops], key=lambda item: -item.sigma))
