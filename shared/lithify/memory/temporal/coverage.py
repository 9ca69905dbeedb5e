"""Selects turns that together cover the events of a question about time (spec 09 §4 and §5)."""

from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lithify.memory.bounds import clamp01
from lithify.memory.ranking.profile import Profile, TemporalWeights
from lithify.memory.temporal.query import TemporalQuery


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
    """ΔΦ in [0, 1]: the share of slots this document is the first to cover."""
    return clamp01(len(covered - seen) / max(slot_count, 1))


def projection_score(xi: float, score: float, anchors: float, gain: float, weights: TemporalWeights) -> float:
    """S_proj in [0, 1]: S_final moved towards the coverage score as far as ξ says."""
    mu, nu, rho = weights.normalised()
    relevance, pull = clamp01(score), clamp01(xi)
    coverage = mu * relevance + nu * clamp01(anchors) + rho * clamp01(gain)
    return clamp01((1.0 - pull) * relevance + pull * coverage)


def recovery_set(
    rest: Sequence[TemporalCandidate], survivors: Collection[str], profile: Profile
) -> tuple[TemporalCandidate, ...]:
    """The best-dated documents among those the second pass did not keep; dated turns are often a weak topical match."""
    eligible = [d for d in rest if d.sim >= profile.recovery_floor and d.key not in survivors]
    eligible.sort(key=lambda d: (-d.anchors, -d.sim, d.key))
    return tuple(eligible[: profile.recovery_size])


def select(pool: Sequence[TemporalCandidate], query: TemporalQuery, profile: Profile) -> tuple[Pick, ...]:
    """S*: the picks by S_proj, at most min(k_cov, k2)."""

    def appraise(document: TemporalCandidate, seen: AbstractSet[int]) -> Pick:
        gain = marginal_coverage(document.covered, seen, len(query.slots))
        sigma = projection_score(query.xi, document.score, document.anchors, gain, profile.temporal)
        return Pick(document.key, sigma, gain)

    return pick_greedily(pool, appraise, min(profile.coverage_size, profile.final_size), profile.coverage_floor)


def pick_greedily(pool: Sequence[TemporalCandidate], appraise: Appraisal, limit: int, stop: float) -> tuple[Pick, ...]:
    """Up to ``limit`` picks, each the best addition to the slots seen before it; ties by score, then key."""
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
