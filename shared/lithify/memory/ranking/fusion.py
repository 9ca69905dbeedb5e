"""Merges a lexical and a vector result list: into one ranking (spec 10 §5), or into those worth a closer look."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lithify.memory.bounds import convex, number_or
from lithify.memory.ranking.relevance import scale_by_maximum

Fusion = Literal["rrf", "weighted"]

RRF_CONSTANT = 60
RRF_LIMIT = 20
DEFAULT_WEIGHTS = (0.7, 0.3)  # vector, lexical


@dataclass(frozen=True, slots=True)
class RankedHit:
    key: str
    score: float  # higher is better


@dataclass(frozen=True, slots=True)
class Fused:
    key: str
    score: float
    lexical: float  # what each list contributed, before weighting
    vector: float
    lexical_rank: int | None  # from 1; None if the list does not hold the key
    vector_rank: int | None


@dataclass(frozen=True, slots=True)
class ScaledList:
    """Holds a list, best first, with the scale on which its scores can be compared with those of another list.

    `scale` never falls as scores rise. A list that `is_cut` ends where its limit was: what it does not hold may score
    up to its last place, and counts so. What a whole list does not hold scores nothing.
    """

    hits: Sequence[RankedHit]
    scale: Callable[[float], float]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class _Values:
    """Holds what a list says of each key, and of those that it does not hold."""

    ranks: Mapping[str, int]
    by_key: Mapping[str, float]
    unlisted: float = 0.0


def fuse_ranks(lexical: Iterable[RankedHit], vector: Iterable[RankedHit], limit: int = RRF_LIMIT) -> tuple[Fused, ...]:
    """Sums 1 / (60 + rank) over the lists (reciprocal rank fusion); only positions count."""
    words, meaning = (_reciprocals(_ranks(_best_first(hits)), RRF_CONSTANT) for hits in (lexical, vector))
    return _merge(words, meaning, (1.0, 1.0))[: max(limit, 0)]


def fuse_weighted(
    lexical: Iterable[RankedHit] | None,
    vector: Iterable[RankedHit] | None,
    weights: tuple[float, float] = DEFAULT_WEIGHTS,
) -> tuple[Fused, ...]:
    """Mixes the cosine relative to the list's best and the reciprocal lexical position convexly.

    ``None`` is a list that could not be had: the other one then counts alone. An empty list is an answer.
    """
    words = _reciprocals(_ranks(_best_first(lexical or ())))
    cosines = _best_first(vector or ())
    meaning = _Values(_ranks(cosines), _relative_cosines(cosines))
    return _merge(words, meaning, _available_weights(lexical is None, vector is None, weights))


def fuse_scaled(lexical: ScaledList, vector: ScaledList, weights: tuple[float, float]) -> tuple[Fused, ...]:
    """Mixes scores on scales that can be compared; ``weights`` are of vector and lexical."""
    return _merge(_scaled_values(lexical), _scaled_values(vector), weights)


def _scaled_values(scaled: ScaledList) -> _Values:
    ordered = _best_first(scaled.hits)
    by_key = {hit.key: scaled.scale(hit.score) for hit in ordered}
    return _Values(_ranks(ordered), by_key, min(by_key.values(), default=0.0) if scaled.is_cut else 0.0)


def _reciprocals(ranks: Mapping[str, int], constant: int = 0) -> _Values:
    return _Values(ranks, {key: 1.0 / (constant + rank) for key, rank in ranks.items()})


def _merge(lexical: _Values, vector: _Values, weights: tuple[float, ...]) -> tuple[Fused, ...]:
    """Adds up the weighted values of every key; equal sums go to the better lexical rank, vector rank and key."""
    vector_weight, lexical_weight = weights

    def fuse(key: str) -> Fused:
        by_words = lexical.by_key.get(key, lexical.unlisted)
        by_meaning = vector.by_key.get(key, vector.unlisted)
        return Fused(
            key=key,
            score=vector_weight * by_meaning + lexical_weight * by_words,
            lexical=by_words,
            vector=by_meaning,
            lexical_rank=lexical.ranks.get(key),
            vector_rank=vector.ranks.get(key),
        )

    fused = map(fuse, lexical.ranks.keys() | vector.ranks.keys())
    return tuple(sorted(fused, key=lambda f: (-f.score, _place(f.lexical_rank), _place(f.vector_rank), f.key)))


def _best_first(hits: Iterable[RankedHit]) -> list[RankedHit]:
    """Sorts here, so that a caller's order cannot change the result; a repeated key keeps its best place."""
    cleaned = [RankedHit(hit.key, number_or(hit.score, 0.0)) for hit in hits]
    cleaned.sort(key=lambda hit: (-hit.score, hit.key))
    best: dict[str, RankedHit] = {}
    for hit in cleaned:
        best.setdefault(hit.key, hit)
    return list(best.values())


def _ranks(hits: Sequence[RankedHit]) -> dict[str, int]:
    return {hit.key: rank for rank, hit in enumerate(hits, start=1)}


def _relative_cosines(hits: Sequence[RankedHit]) -> Mapping[str, float]:
    best = hits[0].score if hits else 0.0
    if best <= 0.0:
        return {}
    return {hit.key: max(hit.score, 0.0) / best for hit in hits}


def _available_weights(no_lexical: bool, no_vector: bool, weights: tuple[float, float]) -> tuple[float, ...]:
    if no_vector:
        return 0.0, 1.0
    if no_lexical:
        return 1.0, 0.0
    return convex(weights, DEFAULT_WEIGHTS)


def _place(rank: int | None) -> float:
    return float("inf") if rank is None else rank


def shortlist(dense: Mapping[str, float], lexical: Mapping[str, float], size: int) -> list[str]:
    """Returns the best ids by the mean of both scores, each relative to its list's best; an absent one counts as 0."""
    meaning = relative_scores(dense)
    words = relative_scores(lexical)
    scores = {key: meaning.get(key, 0.0) + words.get(key, 0.0) for key in {**meaning, **words}}
    return sorted(scores, key=lambda key: (-scores[key], key))[:size]


def relative_scores(scores: Mapping[str, float]) -> dict[str, float]:
    return dict(zip(scores, scale_by_maximum(list(scores.values())).tolist(), strict=True))
