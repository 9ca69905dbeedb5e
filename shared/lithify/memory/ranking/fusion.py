"""Merges a lexical and a vector result list: into one ranking (spec 10 §5), or into those worth a closer look."""

from collections.abc import Iterable, Mapping, Sequence
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


def fuse_ranks(lexical: Iterable[RankedHit], vector: Iterable[RankedHit], limit: int = RRF_LIMIT) -> tuple[Fused, ...]:
    """Sums 1 / (60 + rank) over the lists (reciprocal rank fusion); only positions count."""
    lexical_ranks = _ranks(_best_first(lexical))
    vector_ranks = _ranks(_best_first(vector))

    def fuse(key: str) -> Fused:
        lexical_rank = lexical_ranks.get(key)
        vector_rank = vector_ranks.get(key)
        by_words = _reciprocal(lexical_rank)
        by_meaning = _reciprocal(vector_rank)
        return Fused(
            key=key,
            score=by_words + by_meaning,
            lexical=by_words,
            vector=by_meaning,
            lexical_rank=lexical_rank,
            vector_rank=vector_rank,
        )

    return _sort_fused(fuse(key) for key in lexical_ranks.keys() | vector_ranks.keys())[: max(limit, 0)]


def fuse_weighted(
    lexical: Iterable[RankedHit] | None,
    vector: Iterable[RankedHit] | None,
    weights: tuple[float, float] = DEFAULT_WEIGHTS,
) -> tuple[Fused, ...]:
    """Mixes the cosine relative to the list's best and the reciprocal lexical position convexly.

    ``None`` is a list that could not be had: the other one then counts alone. An empty list is an answer.
    """
    vector_weight, lexical_weight = _available_weights(lexical is None, vector is None, weights)
    lexical_ranks = _ranks(_best_first(lexical or ()))
    vector_hits = _best_first(vector or ())
    vector_ranks = _ranks(vector_hits)
    cosines = _relative_cosines(vector_hits)

    def fuse(key: str) -> Fused:
        rank = lexical_ranks.get(key)
        by_words = 1.0 / rank if rank else 0.0
        cosine = cosines.get(key, 0.0)
        return Fused(
            key=key,
            score=vector_weight * cosine + lexical_weight * by_words,
            lexical=by_words,
            vector=cosine,
            lexical_rank=rank,
            vector_rank=vector_ranks.get(key),
        )

    return _sort_fused(fuse(key) for key in lexical_ranks.keys() | vector_ranks.keys())


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


def _reciprocal(rank: int | None) -> float:
    return 0.0 if rank is None else 1.0 / (RRF_CONSTANT + rank)


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


def _sort_fused(fused: Iterable[Fused]) -> tuple[Fused, ...]:
    return tuple(sorted(fused, key=lambda f: (-f.score, _place(f.lexical_rank), _place(f.vector_rank), f.key)))


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
