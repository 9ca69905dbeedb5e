"""Ranks candidates: two passes for assembly, one for the search tool, each with all its components."""

import math
from collections.abc import Callable, Collection, Sequence
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from lithify.memory.columns import FloatArray, unit
from lithify.memory.ranking.authority import authored_value, authority_weight, frequency
from lithify.memory.ranking.candidate import Candidate, Kind, names_of
from lithify.memory.ranking.hybrid import HybridScored, hybrid_score
from lithify.memory.ranking.keywords import words
from lithify.memory.ranking.ordering import rank_order
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.quality import quality
from lithify.memory.ranking.ranking import Components, Ranking, Scored
from lithify.memory.ranking.recency import age_seconds, recency
from lithify.memory.ranking.relevance import RelevanceWeights, relevance, signed_relevance

__all__ = ["Scored", "coarse_cut", "final_score", "score_hybrid", "score_pass2", "signal_rows"]

_AUTHORED, _SUMMARY = Kind.AUTHORED, Kind.SUMMARY  # enum members are slow to look up a thousand times

# In the order of RelevanceWeights.
_SIGNALS: tuple[Callable[[Candidate], float | None], ...] = (
    attrgetter("dense"),
    attrgetter("lexical"),
    attrgetter("session_prior"),
    attrgetter("speaker"),
    attrgetter("statement"),
    attrgetter("reply"),
    attrgetter("substance"),
    attrgetter("dated"),
)


def final_score(
    mixed: npt.ArrayLike, weight: npt.ArrayLike, covered: npt.ArrayLike, multiplier: npt.ArrayLike, kappa: float
) -> FloatArray:
    """S_final in [0, 1]; dividing by 1 + κ bounds it without clipping, so high scores stay apart (X43)."""
    boost = (1.0 + kappa * unit(covered)) / (1.0 + kappa)
    return unit(multiplier) * unit(weight) * unit(mixed) * boost


def coarse_cut(candidates: Sequence[Candidate], profile: Profile) -> list[Candidate]:
    """Pass 1: the k1 most relevant of everything retrievable (X39), then those at or above the floor."""
    dense = _column([c.dense for c in candidates])
    signed = signed_relevance(_relevance_of(candidates, profile.relevance), dense, profile.relevance)
    order = rank_order(signed, signed, names_of(candidates))
    return [candidates[i] for i in order[: profile.coarse_size].tolist() if signed[i] >= profile.similarity_floor]


def score_pass2(
    candidates: Sequence[Candidate],
    query_keywords: Collection[str],
    profile: Profile,
    now_ms: float,
    max_access: float,
) -> Ranking:
    """Pass 2: all candidates with their components, best first.

    `max_access` is the highest access count among everything retrievable, not only among the candidates (X40).
    """
    mixed = _relevance_of(candidates, profile.relevance)
    fresh = recency(_ages_of(candidates, now_ms), profile.authority_rate)
    used = frequency(_column([c.access_count for c in candidates]), max_access)
    declared = _declared(candidates)
    weight = authority_weight(fresh, used, declared, profile.authority)
    # Splitting every text into words is not for nothing only if somebody weighs it.
    covered = _coverage(candidates, frozenset(query_keywords)) if profile.kappa else np.zeros(len(candidates))
    kept = _quality_of(candidates, profile)
    score = final_score(mixed, weight, covered, kept, profile.kappa)
    components = Components(mixed, fresh, used, declared, weight, covered, kept, score)
    return Ranking.of(candidates, components)


def score_hybrid(candidates: Sequence[Candidate], profile: Profile, now_ms: float) -> list[HybridScored]:
    """The search tool's single pass, best first; assembly uses the second pass instead (X09)."""
    mixed = _relevance_of(candidates, profile.relevance)
    fresh = recency(_ages_of(candidates, now_ms), _column([profile.scope_rates.of(c.scope) for c in candidates]))
    scope = _column([profile.scope_weights.of(c.scope) for c in candidates])
    kept = _quality_of(candidates, profile)
    score = hybrid_score(mixed, fresh, scope, kept, profile.hybrid)
    columns = [part.tolist() for part in (mixed, fresh, scope, kept, score)]
    rows = [HybridScored(*row) for row in zip(candidates, *columns, strict=True)]
    return [rows[i] for i in rank_order(score, mixed, names_of(candidates))]


def _column(values: list[float]) -> FloatArray:
    return np.fromiter(values, np.float64, len(values))


def signal_rows(candidates: Sequence[Candidate], weights: RelevanceWeights) -> FloatArray:
    """One row for each signal, NaN where a candidate cannot have it; rows without weight are not gathered."""
    rows = np.zeros((len(weights), len(candidates)))
    for row, (weight, values) in enumerate(zip(weights, _SIGNALS, strict=True)):
        if weight > 0.0:
            rows[row] = _column([math.nan if (value := values(c)) is None else value for c in candidates])
    return rows


def _relevance_of(candidates: Sequence[Candidate], weights: RelevanceWeights) -> FloatArray:
    return relevance(signal_rows(candidates, weights), weights)


def _ages_of(candidates: Sequence[Candidate], now_ms: float) -> FloatArray:
    return age_seconds(_column([math.nan if c.ts is None else c.ts for c in candidates]), now_ms)


def _quality_of(candidates: Sequence[Candidate], profile: Profile) -> FloatArray:
    """Q, or 1 for all where the profile leaves it out (X45)."""
    delta = profile.delta if profile.apply_quality else 0.0
    decay = _column([c.decay_rate if c.kind is _SUMMARY else 0.0 for c in candidates])
    return quality(decay, delta)


def _declared(candidates: Sequence[Candidate]) -> FloatArray:
    values = [math.nan if c.authority is None else c.authority for c in candidates]
    return authored_value(_column(values), _column([c.kind is _AUTHORED for c in candidates]))


def _coverage(candidates: Sequence[Candidate], wanted: frozenset[str]) -> FloatArray:
    """M of every candidate; `keywords.coverage` for many."""
    known = [words(c.text) if c.terms is None else c.terms for c in candidates]
    return _column([len(wanted.intersection(found)) for found in known]) / max(len(wanted), 1)
