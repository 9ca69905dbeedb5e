"""From two lists to one answer: fusion, decay and variety, as pure functions over the shared mathematics."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from typing import Final

from lithify.docs.document import Chunk
from lithify.docs.query import DocQuery, Leg, LegHit, LegWeights, PickedChunk, ScoredChunk
from lithify.docs.terms import QuestionTerms
from lithify.memory.ranking.duplicates import Passage, diversify, relative_relevance
from lithify.memory.ranking.fusion import (
    RRF_LIMIT,
    Fused,
    RankedHit,
    ScaledList,
    fuse_ranks,
    fuse_scaled,
    fuse_weighted,
)
from lithify.memory.ranking.recency import decay_factor
from lithify.memory.vectors.background import relatedness

# Meaning's share of the weight in a question without names; names take theirs of it away. Words have the rest.
MEANING: Final = 0.3
# What a word scores that one piece in 1,600 has; a rarer one counts for more than its share.
RARE: Final = 7.0


def weigh_legs(terms: QuestionTerms, lexical: Leg, vector: Leg, level: float) -> LegWeights:
    """Decides what each list counts with; one that could not be had, or was not asked for, leaves all to the other."""
    meaning = MEANING * (1.0 - terms.exact_share)
    if vector.absent is not None:
        meaning = 0.0
    elif lexical.absent is not None:
        meaning = 1.0
    return LegWeights(1.0 - meaning, meaning, level)


def fuse_legs(
    query: DocQuery, lexical: Leg, vector: Leg, terms: QuestionTerms, weights: LegWeights | None
) -> tuple[Fused, ...]:
    """Fuses two lists; one that could not be had, or was not asked for, leaves all to the other one."""
    if weights is not None:
        return fuse_scaled(
            ScaledList(_hits(lexical), partial(scale_words, terms=terms), len(lexical.hits) >= query.depth),
            # Only what is not embedded yet is missing in a list that is not cut, and nobody knows what it means.
            ScaledList(_hits(vector), partial(relatedness_above, level=weights.level), is_cut=True),
            (weights.meaning, weights.words),
        )[: max(RRF_LIMIT, query.depth)]
    if query.fusion == "weighted":
        return fuse_weighted(_hits_or_none(lexical), _hits_or_none(vector), query.weights)
    return fuse_ranks(_hits(lexical), _hits(vector), max(RRF_LIMIT, query.limit))


def scale_words(score: float, terms: QuestionTerms) -> float:
    """Returns how much of the question a piece holds, rare words above all: 1 is all of it.

    The square, because half of the words are less than half of the evidence: common ones meet by chance.
    """
    return (score / (RARE * max(terms.weight, 1.0))) ** 2


def relatedness_above(cosine: float, level: float) -> float:
    """Returns 0 for all that is no nearer than unrelated texts are, 1 for what means the same."""
    return max(relatedness(cosine, level), 0.0)


def apply_decay(
    query: DocQuery, ranked: Sequence[Fused], chunks: Mapping[str, Chunk], now_ms: int
) -> tuple[ScoredChunk, ...]:
    """Returns candidates in the order of their scores with decay; equal ones stay as they were."""
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date()

    def score(one: Fused) -> ScoredChunk:
        factor = decay_factor(_day(chunks[one.key]), today, query.half_life_days) if query.decay else 1.0
        return ScoredChunk(
            ref=one.key,
            score=one.score * factor,
            fused=one.score,
            lexical=one.lexical,
            vector=one.vector,
            lexical_rank=one.lexical_rank,
            vector_rank=one.vector_rank,
            decay=factor,
        )

    return tuple(sorted(map(score, ranked), key=lambda one: -one.score))


def pick_chunks(
    query: DocQuery, ranked: Sequence[ScoredChunk], text_of: Callable[[str], str]
) -> tuple[PickedChunk, ...]:
    """Returns the best candidates, with variety if it was asked for."""
    if not query.mmr:
        return tuple(PickedChunk(one.ref, one.score, None, text_of(one.ref)) for one in ranked[: query.limit])
    scores = {one.ref: one.score for one in ranked}
    relevance = relative_relevance([one.score for one in ranked])
    passages = [Passage(one.ref, text_of(one.ref), share) for one, share in zip(ranked, relevance, strict=True)]
    varied = diversify(passages, query.limit, query.lambda_, query.threshold)
    return tuple(PickedChunk(one.key, scores[one.key], one.value, text_of(one.key)) for one in varied)


def rank_scores(scores: Mapping[str, float]) -> tuple[LegHit, ...]:
    """Ranks references, best first; equal scores by reference, so that the same list is the same on every engine."""
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return tuple(LegHit(ref, rank, score) for rank, (ref, score) in enumerate(ordered, start=1))


def _hits(leg: Leg) -> list[RankedHit]:
    return [RankedHit(one.ref, one.score) for one in leg.hits]


def _hits_or_none(leg: Leg) -> list[RankedHit] | None:
    return _hits(leg) if leg.absent is None else None


def _day(chunk: Chunk) -> date | None:
    return date.fromisoformat(chunk.ts_hint) if chunk.ts_hint else None
