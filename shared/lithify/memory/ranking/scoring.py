"""Ranks candidates: two passes for assembly, one for the search tool, each with all its components."""

import math
from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lithify.memory.columns import FloatArray, unit
from lithify.memory.ranking.authority import authored_value, authority_weight, frequency
from lithify.memory.ranking.candidate import Candidate, Kind
from lithify.memory.ranking.hybrid import HybridScored, hybrid_score
from lithify.memory.ranking.keywords import words
from lithify.memory.ranking.ordering import rank_order
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.quality import quality
from lithify.memory.ranking.recency import age_seconds, recency
from lithify.memory.ranking.relevance import RelevanceWeights, relevance, signed_relevance

_AUTHORED, _SUMMARY = Kind.AUTHORED, Kind.SUMMARY  # enum members are slow to look up a thousand times


class Scored(NamedTuple):
    """One candidate of the second pass with every component of its score: a row of the receipt."""

    candidate: Candidate
    relevance: float
    recency: float  # r
    frequency: float  # f
    authority: float  # a
    weight: float  # ω
    coverage: float  # M
    quality: float  # Q
    score: float  # S_final


def final_score(
    mixed: npt.ArrayLike, weight: npt.ArrayLike, covered: npt.ArrayLike, multiplier: npt.ArrayLike, kappa: float
) -> FloatArray:
    """S_final in [0, 1]; dividing by 1 + κ bounds it without clipping, so high scores stay apart (X43)."""
    boost = (1.0 + kappa * unit(covered)) / (1.0 + kappa)
    return unit(multiplier) * unit(weight) * unit(mixed) * boost


def coarse_cut(candidates: Sequence[Candidate], profile: Profile) -> list[Candidate]:
    """Pass 1: the k1 most relevant of everything retrievable (X39), then those at or above the floor."""
    dense = _column([c.signals.dense for c in candidates])
    signed = signed_relevance(_relevance_of(candidates, profile.relevance), dense, profile.relevance)
    order = rank_order(signed, signed, candidates)
    return [candidates[i] for i in order[: profile.coarse_size].tolist() if signed[i] >= profile.similarity_floor]


def score_pass2(
    candidates: Sequence[Candidate],
    query_keywords: Collection[str],
    profile: Profile,
    now_ms: float,
    max_access: float,
) -> list[Scored]:
    """Pass 2: scores all candidates, with every component, best first.

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
    order = rank_order(score, mixed, candidates)
    columns = [part[order].tolist() for part in (mixed, fresh, used, declared, weight, covered, kept, score)]
    return list(map(Scored, [candidates[i] for i in order.tolist()], *columns))


def score_hybrid(candidates: Sequence[Candidate], profile: Profile, now_ms: float) -> list[HybridScored]:
    """The search tool's single pass, best first; assembly uses the second pass instead (X09)."""
    mixed = _relevance_of(candidates, profile.relevance)
    fresh = recency(_ages_of(candidates, now_ms), _column([profile.scope_rates.of(c.scope) for c in candidates]))
    scope = _column([profile.scope_weights.of(c.scope) for c in candidates])
    kept = _quality_of(candidates, profile)
    score = hybrid_score(mixed, fresh, scope, kept, profile.hybrid)
    columns = [part.tolist() for part in (mixed, fresh, scope, kept, score)]
    rows = [HybridScored(*row) for row in zip(candidates, *columns, strict=True)]
    return [rows[i] for i in rank_order(score, mixed, candidates)]


def _column(values: list[float]) -> FloatArray:
    return np.fromiter(values, np.float64, len(values))


def signal_rows(candidates: Sequence[Candidate], weights: RelevanceWeights) -> FloatArray:
    """Returns one row for each weighted signal, in the order of the weights; NaN where a candidate cannot have it.

    Rows without weight are not gathered and stay 0.
    """
    signals = [candidate.signals for candidate in candidates]
    rows = np.zeros((len(weights), len(candidates)))
    for row, (name, weight) in enumerate(zip(weights._fields, weights, strict=True)):
        if weight > 0.0:
            rows[row] = np.array(list(map(attrgetter(name), signals)), dtype=np.float64)  # None becomes NaN
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
    """Returns M of every candidate, in [0, 1]: the share of the keywords in its text; 0 if the query has none."""
    return _column([len(wanted.intersection(words(c.text))) for c in candidates]) / max(len(wanted), 1)
