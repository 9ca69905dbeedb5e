"""The search tool: one ranked list with the components of every score."""

from dataclasses import dataclass

from lithify.assembly.retrieval import Found, Question, Retriever
from lithify.assembly.schema import Filters, SearchHit, SearchRequest
from lithify.events import TenantScope
from lithify.memory.ranking.hybrid import HybridScored
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.scoring import score_hybrid
from lithify.store import Where

LEGS = {
    "hybrid": frozenset({"dense", "lexical"}),
    "dense": frozenset({"dense"}),
    "lexical": frozenset({"lexical"}),
}
# Each leg is asked for more than is returned: a record may be good in one list and best in the union.
DEPTH_FACTOR = 4
MIN_DEPTH = 64


@dataclass(frozen=True, slots=True)
class SearchResult:
    hits: list[SearchHit]
    found: Found


async def search(
    retriever: Retriever, scope: TenantScope, request: SearchRequest, profile: Profile, now_ms: int
) -> SearchResult:
    question = Question(
        text=request.query,
        where=search_filter(request),
        session=request.session,
        depth=max(DEPTH_FACTOR * request.limit, MIN_DEPTH),
        legs=LEGS[request.mode],
        dense_by_maximum=profile.dense_by_maximum,
    )
    found = await retriever.retrieve(scope, question)
    ranked = score_hybrid(found.candidates, profile, now_ms)[: request.limit]
    return SearchResult([search_hit(scored, found) for scored in ranked], found)


def search_filter(request: SearchRequest) -> Where:
    where = narrowed(Where().equals("active", True), request.filters)
    return where.equals("session", request.session) if request.session else where


def narrowed(where: Where, filters: Filters) -> Where:
    if filters.kinds is not None:
        where = where.any_of("kind", filters.kinds)
    if filters.roles is not None:
        where = where.any_of("role", [role.value for role in filters.roles])
    for name, value in (("agent", filters.agent), ("source_ref", filters.source_ref)):
        where = where if value is None else where.equals(name, value)
    if filters.since is None and filters.until is None:
        return where
    return where.between("ts", filters.since, filters.until)


def search_hit(scored: HybridScored, found: Found) -> SearchHit:
    candidate = scored.candidate
    memory = found.memories[candidate.id]
    return SearchHit(
        id=candidate.id,
        event_id=memory.event_id,
        kind=memory.kind,
        score=scored.score,
        components=components(scored),
        text=memory.text,
        role=memory.role,
        user=memory.user,
        session=memory.session,
        ts=memory.ts,
        seq=memory.seq,
    )


def components(scored: HybridScored) -> dict[str, float]:
    candidate = scored.candidate
    return {
        "dense": candidate.dense,
        "lexical": candidate.lexical,
        "relevance": scored.relevance,
        "recency": scored.recency,
        "scope": scored.scope,
        "quality": scored.quality,
    }
