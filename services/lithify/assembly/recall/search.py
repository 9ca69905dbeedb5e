"""The search tool: one ranked list with the components of every score."""

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from lithify.assembly.deadlines import Deadline
from lithify.assembly.recall.choices import apply_choices, let_fade, score_found, vary_order
from lithify.assembly.recall.found import FoundMemories
from lithify.assembly.recall.legs import BOTH, DENSE
from lithify.assembly.recall.pools import session_pools
from lithify.assembly.recall.reach import core_reach, search_reach
from lithify.assembly.recall.recall import unite_found
from lithify.assembly.recall.retrieval import RecallQuery, Retriever
from lithify.assembly.schema import Filters, SearchHit, SearchRequest
from lithify.events import TenantScope
from lithify.memory.question import clip_question
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.duplicates import distinct_turns
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.renewal import put_newer_first
from lithify.memory.ranking.scoring import HybridScored, let_durable_stand, put_newest_first
from lithify.store import LEXICAL, Where
from lithify.store.memory_record import PIECE

LEGS: Final = {"hybrid": BOTH, "dense": frozenset({DENSE}), "lexical": frozenset({LEXICAL})}
DIVISIBLE: Final = frozenset({"turn", "memory"})
SCORE_PARTS: Final = HybridScored._fields[1:-2]  # without the candidate, the score itself, and the notes


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
    request = request.model_copy(update={"query": clip_question(request.query)})
    queries = search_queries(request, profile)
    found = unite_found([await retriever.retrieve_in_time(scope, query, deadline) for query in queries])
    rank = partial(rank_found, found, request, profile, now_ms)
    # Variety compares texts with each other; others are served meanwhile.
    ranked = await asyncio.to_thread(rank) if request.mmr or profile.mmr_lambda is not None else rank()
    return SearchResult([make_hit(scored, found) for scored in ranked], found)


def search_queries(request: SearchRequest, profile: Profile) -> list[RecallQuery]:
    """Returns what to ask: of all that may be found at once, or of each pool where the profile keeps sessions apart."""
    query = search_query(request, profile)
    if request.session is None or request.only_session:
        return [query]
    pools = session_pools(profile, request.session)
    return [replace(query, where=apply_filters(pool.where, request.filters)) for pool in pools]


def search_query(request: SearchRequest, profile: Profile) -> RecallQuery:
    """Returns what to ask of all that the user may find; the session is preferred, and no filter unless it shall be."""
    chosen = apply_choices(profile, request)
    return RecallQuery(
        text=request.query,
        where=search_filter(request, profile),
        session=request.session,
        reach=search_reach(profile, request.limit, request.multiplier),
        core=core_reach(profile),
        legs=LEGS[request.mode],
        dense_by_maximum=profile.dense_by_maximum,
        window=chosen.window,
        is_judged=profile.relevance_floor is not None,
        keeps_legs=request.fusion is not None,
    )


def rank_found(found: FoundMemories, request: SearchRequest, profile: Profile, now_ms: int) -> list[HybridScored]:
    """Ranks what was found, best first, with one copy of each turn.

    Scores fade and the order varies where the request, the profile or the question asks for it.
    """
    chosen = apply_choices(profile, request)
    ranked = [row for row in score_found(found, request, chosen, now_ms) if is_wanted(row.candidate, request.filters)]
    ranked = distinct_turns(let_durable_stand(ranked) if profile.durable_authority else ranked)
    ranked = let_fade(ranked, chosen.decay_half_life_days)
    ranked = put_newest_first(put_newer_first(ranked, request.query, chosen.renewal))
    ranked = [row for row in ranked if hit_score(row) >= request.min_score]
    if chosen.mmr_lambda is None:
        return ranked[: request.limit]
    is_spread = profile.dense_by_maximum and request.fusion is None
    return vary_order(ranked, request.limit, chosen.mmr_lambda, request.threshold, is_spread=is_spread)


def is_wanted(candidate: Candidate, filters: Filters) -> bool:
    """Says whether a record is of a kind that is wanted: a piece may belong to one that is not."""
    return filters.kinds is None or candidate.kind.value in filters.kinds


def search_filter(request: SearchRequest, profile: Profile) -> Where:
    """Says which records a search may find.

    Turns stay searchable after their compaction where the profile says so; superseded summaries never do.
    """
    visible = Where() if profile.raw_history else Where().equals("active", True)
    where = apply_filters(visible, request.filters)
    return where.equals("session", request.session) if request.session and request.only_session else where


def apply_filters(where: Where, filters: Filters) -> Where:
    if filters.kinds is not None:
        # Long turns and memories are found by their pieces; whose they are is known when they are folded.
        pieces = (PIECE,) if DIVISIBLE.intersection(filters.kinds) else ()
        where = where.any_of("kind", (*filters.kinds, *pieces))
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
        excerpt=candidate.excerpt,
    )


def hit_score(scored: HybridScored) -> float:
    """Returns how probable it is that a hit helps; where that is not known, what ranked it."""
    chance = scored.candidate.signals.helpful
    return scored.score if chance is None else chance


def components(scored: HybridScored) -> dict[str, float]:
    """Returns the signals, the parts of the score and its notes by name; what a record cannot have is left out."""
    parts = scored.candidate.signals.by_name() | {name: getattr(scored, name) for name in SCORE_PARTS}
    return {name: value for name, value in parts.items() if value is not None} | dict(scored.notes)
