"""What a caller chose for the ranking of one search: fusion, decay and variety of spec 10, over the profile's own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lithify.assembly.recall.found import FoundMemories
from lithify.assembly.recall.legs import SourceTurn, source_turn
from lithify.assembly.schema import SearchRequest
from lithify.memory.bounds import FloatArray
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.duplicates import RELEVANCE_SHARE, Passage, diversify, relative_relevance
from lithify.memory.ranking.fusion import DEFAULT_WEIGHTS, Fused, RankedHit, fuse_ranks, fuse_weighted
from lithify.memory.ranking.passages import ALONE
from lithify.memory.ranking.profile import NO_RENEWAL, Profile
from lithify.memory.ranking.recency import HALF_LIFE_DAYS
from lithify.memory.ranking.scoring import HybridScored, fade_older, score_hybrid
from lithify.store import Hit

FusedTurns = Mapping[SourceTurn, Fused]


def apply_choices(profile: Profile, request: SearchRequest) -> Profile:
    """Returns the profile as this search wants it; what the request leaves open stays.

    A question about the present puts the newer of two hits first by itself, unless the request says that age shall not
    count.
    """
    half_life = profile.decay_half_life_days
    renewal = NO_RENEWAL if request.decay is False else profile.renewal
    if request.decay is not None:
        half_life = (request.half_life_days or HALF_LIFE_DAYS) if request.decay else None
    share = profile.mmr_lambda
    if request.mmr is not None:
        asked = RELEVANCE_SHARE if request.relevance_share is None else request.relevance_share
        share = asked if request.mmr else None
    # Lists are fused of records by themselves; the turns around them belong to the signals of the profile.
    window = profile.window if request.fusion is None else ALONE
    return replace(profile, decay_half_life_days=half_life, renewal=renewal, mmr_lambda=share, window=window)


def score_found(found: FoundMemories, request: SearchRequest, profile: Profile, now_ms: int) -> list[HybridScored]:
    """Scores what was found, best first: by the profile's signals, or by the fusion that was asked for."""
    if request.fusion is None or found.legs is None:
        return score_hybrid(found.candidates, profile, now_ms)
    fused = fuse_lists(found, request)
    rows = [fused[turn_of(candidate)] for candidate in found.candidates]
    relevance: FloatArray = np.array(relative_relevance([row.score for row in rows]))
    ranked = score_hybrid(found.candidates, profile, now_ms, relevance)
    return [row._replace(notes=note_ranks(fused[turn_of(row.candidate)])) for row in ranked]


def fuse_lists(found: FoundMemories, request: SearchRequest) -> FusedTurns:
    """Fuses the two lists by source turn: copies of one turn share its best place."""
    legs = found.legs
    turns: dict[str, SourceTurn] = {}

    def read_list(hits: Sequence[Hit]) -> list[RankedHit]:
        turns.update({str(source_turn(hit)): source_turn(hit) for hit in hits})
        return [RankedHit(str(source_turn(hit)), hit.score) for hit in hits]

    words = read_list(legs.by_words if legs else ())
    meaning = read_list(legs.by_meaning if legs else ())
    if request.fusion == "rrf":
        fused = fuse_ranks(words, meaning, len(words) + len(meaning))
    else:
        weight = DEFAULT_WEIGHTS[0] if request.vector_weight is None else request.vector_weight
        # Without an answer from the model the list is not empty but missing, and words count alone.
        is_missing = bool(found.degraded) and not meaning
        fused = fuse_weighted(words, None if is_missing else meaning, (weight, 1.0 - weight))
    return {turns[one.key]: one for one in fused}


def turn_of(candidate: Candidate) -> SourceTurn:
    return (True, candidate.source_turn) if candidate.source_turn else (False, candidate.id)


def note_ranks(fused: Fused) -> dict[str, float]:
    """Returns what a hit says of its fusion; a list that does not hold it has no rank to tell."""
    ranks = {"lexical_rank": fused.lexical_rank, "vector_rank": fused.vector_rank}
    return {"fused": fused.score} | {name: float(rank) for name, rank in ranks.items() if rank is not None}


def let_fade(ranked: Sequence[HybridScored], half_life_days: float | None) -> list[HybridScored]:
    """Lets scores fade with age, and notes by how much."""
    if half_life_days is None:
        return list(ranked)
    before = {row.candidate.id: row.score for row in ranked}
    return [
        row._replace(notes={**row.notes, "decay": row.score / (before[row.candidate.id] or 1.0)})
        for row in fade_older(ranked, half_life_days)
    ]


def vary_order(
    ranked: Sequence[HybridScored], limit: int, share: float, threshold: float | None, *, is_spread: bool
) -> list[HybridScored]:
    """Puts variety into the order of the best; the scores stay, and what was too far down to be compared follows.

    Where scores are spread over what was found, the weakest hit has next to nothing, however well it answers: it counts
    half as much as the best one, so that in a small memory something else still stands before a repetition.
    """
    relative = relative_relevance([row.score for row in ranked])
    relevance = [0.5 + 0.5 * value for value in relative] if is_spread else relative
    passages = [Passage(r.candidate.id, r.candidate.text, value) for r, value in zip(ranked, relevance, strict=True)]
    rows = {row.candidate.id: row for row in ranked}
    picks = diversify(passages, limit, share, threshold)
    varied = [rows[pick.key]._replace(notes={**rows[pick.key].notes, "diversity": pick.value}) for pick in picks]
    return varied if threshold is not None else [*varied, *ranked[len(varied) : limit]]
