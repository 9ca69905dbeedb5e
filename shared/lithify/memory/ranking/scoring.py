"""Ranks candidates: two passes for assembly (spec 08), one for the search tool (spec 02 §1), with all components."""

import math
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from lithify.memory.bounds import FloatArray, Positions, unit
from lithify.memory.ranking.authority import authored_value, authority_weight, frequency, quality
from lithify.memory.ranking.candidate import Candidate, Kind
from lithify.memory.ranking.cues import words
from lithify.memory.ranking.duplicates import RankedT
from lithify.memory.ranking.helpfulness import is_helpful_enough
from lithify.memory.ranking.profile import HybridWeights, Profile
from lithify.memory.ranking.recency import age_seconds, recency
from lithify.memory.ranking.relevance import RelevanceWeights, relevance, signed_relevance
from lithify.memory.updates import newest_first

_AUTHORED, _SUMMARY, _MEMORY = (
    Kind.AUTHORED,
    Kind.SUMMARY,
    Kind.MEMORY,
)  # enum members are slow to look up a thousand times
SECONDS_PER_DAY: Final = 86_400.0
DENSE_ROW: Final = RelevanceWeights._fields.index("dense")
NO_NOTES: Final[Mapping[str, float]] = MappingProxyType({})


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


class HybridScored(NamedTuple):
    """One hit of the search tool with every component of its score: a row of the receipt."""

    candidate: Candidate
    relevance: float
    recency: float
    scope: float
    quality: float
    score: float
    notes: Mapping[str, float] = NO_NOTES  # what fusion, decay and variety said of it, where they were asked for


def final_score(
    mixed: npt.ArrayLike, weight: npt.ArrayLike, covered: npt.ArrayLike, multiplier: npt.ArrayLike, kappa: float
) -> FloatArray:
    """Returns S_final in [0, 1]; dividing by 1 + κ bounds it without clipping, so high scores stay apart (X43)."""
    boost = (1.0 + kappa * unit(covered)) / (1.0 + kappa)
    return unit(multiplier) * unit(weight) * unit(mixed) * boost


def coarse_cut(candidates: Sequence[Candidate], profile: Profile, least: float | None = None) -> list[Candidate]:
    """Pass 1: takes the k1 most relevant of everything retrievable (X39), then those at or above the floor.

    `least` is the chance to help that a calibrated record needs besides.
    """
    dense = _column([c.signals.dense for c in candidates])
    weights = _weights_of(candidates, profile)
    mixed = relevance(signal_rows(candidates, profile), weights)
    signed = signed_relevance(mixed, dense, weights[DENSE_ROW])
    order = rank_order(signed, signed, candidates)
    coarse = [candidates[i] for i in order[: profile.coarse_size].tolist() if signed[i] >= profile.similarity_floor]
    return [candidate for candidate in coarse if is_helpful_enough(candidate.signals.helpful, least)]


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
    mixed = _relevance_of(candidates, profile)
    fresh = recency(_ages_of(candidates, now_ms), profile.authority_rate)
    used = frequency(_column([c.access_count for c in candidates]), max_access)
    declared = _authorship_of(candidates, profile)
    weight = authority_weight(fresh, used, declared, profile.authority)
    # Splitting every text into words is not for nothing only if somebody weighs it.
    covered = _coverage_of(candidates, frozenset(query_keywords)) if profile.kappa else np.zeros(len(candidates))
    kept = _quality_of(candidates, profile)
    score = final_score(mixed, weight=weight, covered=covered, multiplier=kept, kappa=profile.kappa)
    order = rank_order(score, mixed, candidates)
    columns = [part[order].tolist() for part in (mixed, fresh, used, declared, weight, covered, kept, score)]
    return list(map(Scored, [candidates[i] for i in order.tolist()], *columns))


def score_hybrid(
    candidates: Sequence[Candidate], profile: Profile, now_ms: float, mixed: FloatArray | None = None
) -> list[HybridScored]:
    """Scores in the search tool's single pass, best first; assembly uses the second pass instead (X09).

    `mixed` is the relevance of each candidate, where the signals of the profile are not to decide it.
    """
    mixed = _relevance_of(candidates, profile) if mixed is None else mixed
    fresh = recency(_ages_of(candidates, now_ms), _column([profile.scope_rates.of(c.scope) for c in candidates]))
    scope = _column([profile.scope_weights.of(c.scope) for c in candidates])
    kept = _quality_of(candidates, profile)
    score = hybrid_score(mixed, fresh=fresh, scope=scope, multiplier=kept, weights=profile.hybrid)
    columns = [part.tolist() for part in (mixed, fresh, scope, kept, score)]
    rows = [HybridScored(*row) for row in zip(candidates, *columns, strict=True)]
    return [rows[i] for i in rank_order(score, mixed, candidates)]


def _column(values: list[float]) -> FloatArray:
    return np.fromiter(values, np.float64, len(values))


def signal_rows(candidates: Sequence[Candidate], profile: Profile) -> FloatArray:
    """Returns one row for each signal, in the order of the weights; NaN where a candidate cannot have it.

    Rows without weight are not gathered and stay 0.
    """
    signals = [candidate.signals for candidate in candidates]
    rows = np.zeros((len(RelevanceWeights._fields), len(candidates)))
    weights = zip(RelevanceWeights._fields, *profile.weights, strict=True)
    for row, (name, *shares) in enumerate(weights):
        if max(shares) > 0.0:
            rows[row] = np.array(list(map(attrgetter(name), signals)), dtype=np.float64)  # None becomes NaN
    return rows


def _weights_of(candidates: Sequence[Candidate], profile: Profile) -> FloatArray:
    dialogue = _column([candidate.signals.dialogue for candidate in candidates])
    long_turns = _column([candidate.signals.long_turns for candidate in candidates])
    foreign = _column([candidate.signals.foreign for candidate in candidates])
    return profile.weights.mix(dialogue, long_turns, foreign)


def _relevance_of(candidates: Sequence[Candidate], profile: Profile) -> FloatArray:
    return relevance(signal_rows(candidates, profile), _weights_of(candidates, profile))


def _ages_of(candidates: Sequence[Candidate], now_ms: float) -> FloatArray:
    return age_seconds(_column([math.nan if c.ts is None else c.ts for c in candidates]), now_ms)


def _quality_of(candidates: Sequence[Candidate], profile: Profile) -> FloatArray:
    """Returns Q, or 1 for all where the profile leaves it out (X45); what is out of date counts less."""
    delta = profile.delta if profile.apply_quality else 0.0
    decay = _column([c.decay_rate if c.kind is _SUMMARY else 0.0 for c in candidates])
    outdated = _column([1.0 if c.superseded_by is None else profile.outdated_weight for c in candidates])
    return quality(decay, delta) * outdated


def _authorship_of(candidates: Sequence[Candidate], profile: Profile) -> FloatArray:
    lasting = profile.durable_authority or math.nan
    values = [(lasting if c.kind is _MEMORY else math.nan) if c.authority is None else c.authority for c in candidates]
    return authored_value(_column(values), _column([c.kind is _AUTHORED for c in candidates]))


def _coverage_of(candidates: Sequence[Candidate], wanted: frozenset[str]) -> FloatArray:
    """Returns M of every candidate, in [0, 1]: the share of the keywords in its text; 0 if the query has none."""
    return _column([len(wanted.intersection(words(c.text))) for c in candidates]) / max(len(wanted), 1)


def hybrid_score(
    similarity: npt.ArrayLike,
    fresh: npt.ArrayLike,
    scope: npt.ArrayLike,
    multiplier: npt.ArrayLike,
    weights: HybridWeights,
) -> FloatArray:
    """Returns a score in [0, 1]; a negative similarity counts as 0."""
    alpha, beta, gamma = weights
    base = alpha * unit(similarity) + beta * unit(fresh) + gamma * unit(scope)
    return unit(base * unit(multiplier))


RowT = TypeVar("RowT", HybridScored, Scored)


def fade_older(ranked: Sequence[RowT], half_life_days: float | None) -> list[RowT]:
    """Halves scores for every half-life by which a hit is older than the newest, and sorts anew (spec 10 §7).

    Older than the newest hit and not than now: among old memories the latest is as much wanted. What has no time is
    evergreen. Without a half-life nothing fades.
    """
    times = np.array([math.nan if row.candidate.ts is None else row.candidate.ts for row in ranked])
    if half_life_days is None or np.isnan(times).all():
        return list(ranked)
    ages = age_seconds(times, float(np.nanmax(times)))
    scores = np.array([row.score for row in ranked]) * recency(ages, math.log(2.0) / (half_life_days * SECONDS_PER_DAY))
    similarities = np.array([row.relevance for row in ranked])
    order = rank_order(scores, similarities, [row.candidate for row in ranked])
    return [ranked[i]._replace(score=float(scores[i])) for i in order.tolist()]


def let_durable_stand(ranked: Sequence[RowT]) -> list[RowT]:
    """Puts a durable memory at the place of the best copy of its turn, and that copy at the memory's own."""
    rows = list(ranked)
    first: dict[str, int] = {}
    for place, row in enumerate(rows):
        turn = row.candidate.source_turn
        if not turn:
            continue
        best = first.setdefault(turn, place)
        if best != place and row.candidate.kind is _MEMORY and rows[best].candidate.kind is not _MEMORY:
            ahead = rows[best]
            rows[best] = row._replace(score=ahead.score)
            rows[place] = ahead._replace(score=row.score)
    return rows


def put_newest_first(ranked: Sequence[RankedT]) -> list[RankedT]:
    """Returns the ranking with nothing before what replaced it."""
    return newest_first(
        ranked,
        lambda row: [name for name in (row.candidate.id, row.candidate.source_turn) if name],
        lambda row: row.candidate.successor or row.candidate.superseded_by,
    )


def rank_key(score: float, similarity: float, record_id: str) -> tuple[float, float, str]:
    """Returns the ascending sort key by which score and similarity fall, and ids rise."""
    return -score, -similarity, record_id


def rank_order(scores: FloatArray, similarities: FloatArray, candidates: Sequence[Candidate]) -> Positions:
    """Returns the positions of the candidates in the order of `rank_key`.

    Ids are compared only if two positions tie in both numbers, which spares a thousand tuples otherwise.
    """
    order = np.lexsort((-similarities, -scores))
    ties = (np.diff(scores[order]) == 0.0) & (np.diff(similarities[order]) == 0.0)
    if not ties.any():
        return order
    numbers = zip(scores, similarities, candidates, strict=True)
    keys = [rank_key(score, similarity, candidate.id) for score, similarity, candidate in numbers]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
