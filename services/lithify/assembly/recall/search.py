"""The search tool: one ranked list with the components of every score."""

from dataclasses import dataclass
from typing import Final

from lithify.assembly.deadlines import Deadline
from lithify.assembly.recall.legs import BOTH, DENSE
from lithify.assembly.recall.levels import search_levels
from lithify.assembly.recall.retrieval import FoundMemories, RecallQuery, Retriever
from lithify.assembly.schema import Filters, SearchHit, SearchRequest
from lithify.events import TenantScope
from lithify.memory.ranking.cues import asks_for_latest
from lithify.memory.ranking.duplicates import Passage, distinct_turns, diversify, relative_relevance
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.scoring import HybridScored, fade_older, let_durable_stand, put_newest_first, score_hybrid
from lithify.store import LEXICAL, Where

LEGS: Final = {"hybrid": BOTH, "dense": frozenset({DENSE}), "lexical": frozenset({LEXICAL})}
SCORE_PARTS: Final = HybridScored._fields[1:-1]  # without the candidate and the score itself


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of a search, and all that was found for it."""

    hits: list[SearchHit]
    found: FoundMemories


async def search(
    retriever: Retriever,
    scope: TenantScope,
    request: SearchRequest,
    profile: Profile,
    *,
    now_ms: int,
    deadline: Deadline,
) -> SearchResult:
    """Answers a search within its deadline. Never raises for a missing or slow dependency; `degraded` names it."""
    found = await retriever.retrieve_in_time(scope, search_query(request, profile), deadline)
    ranked = rank_found(found, request, profile, now_ms)
    return SearchResult([make_hit(scored, found) for scored in ranked], found)


def search_query(request: SearchRequest, profile: Profile) -> RecallQuery:
    return RecallQuery(
        text=request.query,
        where=search_filter(request, profile),
        session=request.session,
        levels=search_levels(profile, request.limit),
        legs=LEGS[request.mode],
        dense_by_maximum=profile.dense_by_maximum,
        window=profile.window,
        is_judged=profile.relevance_floor is not None,
    )


def rank_found(found: FoundMemories, request: SearchRequest, profile: Profile, now_ms: int) -> list[HybridScored]:
    """Ranks what was found, best first, with one copy of each turn.

    Scores fade and the order varies where the profile, or the question, asks for it.
    """
    ranked = score_hybrid(found.candidates, profile, now_ms)
    ranked = distinct_turns(let_durable_stand(ranked) if profile.durable_authority else ranked)
    half_life = profile.latest_half_life_days if asks_for_latest(request.query) else None
    ranked = fade_older(ranked, half_life or profile.decay_half_life_days)
    ranked = put_newest_first(ranked)
    ranked = [row for row in ranked if hit_score(row) >= request.min_score]
    if profile.mmr_lambda is None:
        return ranked[: request.limit]
    return vary_order(ranked, request.limit, profile.mmr_lambda)


def vary_order(ranked: list[HybridScored], limit: int, share: float) -> list[HybridScored]:
    """Puts variety into the order; the scores stay."""
    relevance = relative_relevance([row.score for row in ranked])
    passages = [Passage(r.candidate.id, r.candidate.text, value) for r, value in zip(ranked, relevance, strict=True)]
    rows = {row.candidate.id: row for row in ranked}
    return [rows[pick.key] for pick in diversify(passages, limit, share)]


def search_filter(request: SearchRequest, profile: Profile) -> Where:
    """Says which records a search may find.

    Turns stay searchable after their compaction where the profile says so; superseded summaries never do.
    """
    visible = Where() if profile.raw_history else Where().equals("active", True)
    where = apply_filters(visible, request.filters)
    return where.equals("session", request.session) if request.session else where


def apply_filters(where: Where, filters: Filters) -> Where:
    if filters.kinds is not None:
        where = where.any_of("kind", filters.kinds)
    if filters.roles is not None:
        where = where.any_of("role", [role.value for role in filters.roles])
    for name, value in (("agent", filters.agent), ("source_ref", filters.source_ref)):
        where = where if value is None else where.equals(name, value)
    if filters.since is None and filters.until is None:
        return where
    return where.between("ts", filters.since, filters.until)


def make_hit(scored: HybridScored, found: FoundMemories) -> SearchHit:
    candidate = scored.candidate
    memory = found.memories[candidate.id]
    return SearchHit(
        id=candidate.id,
        event_id=memory.event_id,
        kind=memory.kind,
        score=hit_score(scored),
        components=components(scored),
        text=memory.text,
        role=memory.role,
        user=memory.user,
        session=memory.session,
        ts=memory.ts,
        seq=memory.seq,
        superseded_by=memory.superseded_by,
    )


def hit_score(scored: HybridScored) -> float:
    """Returns how probable it is that a hit helps; where that is not known, what ranked it."""
    chance = scored.candidate.signals.helpful
    return scored.score if chance is None else chance


def components(scored: HybridScored) -> dict[str, float]:
    """Returns the signals and the parts of the score by name; signals a record cannot have are left out."""
    parts = scored.candidate.signals.by_name() | dict(zip(SCORE_PARTS, scored[1:-1], strict=True))
    return {name: value for name, value in parts.items() if value is not None}
