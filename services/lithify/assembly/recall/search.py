"""The search tool: one ranked list with the components of every score."""

from dataclasses import dataclass
from typing import Final

from lithify.assembly.recall.retrieval import BOTH, DENSE, Found, Question, Retriever
from lithify.assembly.schema import Filters, SearchHit, SearchRequest
from lithify.events import TenantScope
from lithify.memory.ranking.cues import asks_for_latest
from lithify.memory.ranking.diversity import Passage, diversify, relative_relevance
from lithify.memory.ranking.duplicates import distinct_turns
from lithify.memory.ranking.fading import faded
from lithify.memory.ranking.hybrid import HybridScored
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.scoring import score_hybrid
from lithify.store import LEXICAL, Where

LEGS: Final = {"hybrid": BOTH, "dense": frozenset({DENSE}), "lexical": frozenset({LEXICAL})}
# Each leg is asked for more than is returned: a record may be good in one list and best in the union. The better half
# of them is looked at with its neighbours; looking at all gains .002 of recall.
DEPTH_FACTOR: Final = 4
MIN_DEPTH: Final = 64
SCORE_PARTS: Final = HybridScored._fields[1:-1]  # without the candidate and the score itself


@dataclass(frozen=True, slots=True)
class SearchResult:
    hits: list[SearchHit]
    found: Found


async def search(
    retriever: Retriever, scope: TenantScope, request: SearchRequest, profile: Profile, now_ms: int
) -> SearchResult:
    found = await retriever.retrieve(scope, search_question(request, profile))
    ranked = rank(found, request, profile, now_ms)
    return SearchResult([search_hit(scored, found) for scored in ranked], found)


def search_question(request: SearchRequest, profile: Profile) -> Question:
    depth = max(DEPTH_FACTOR * request.limit, MIN_DEPTH)
    return Question(
        text=request.query,
        where=search_filter(request, profile),
        session=request.session,
        depth=depth,
        shortlist=depth // 2,
        legs=LEGS[request.mode],
        dense_by_maximum=profile.dense_by_maximum,
        window=profile.window,
    )


def rank(found: Found, request: SearchRequest, profile: Profile, now_ms: int) -> list[HybridScored]:
    """Best first, one copy of each turn; faded and varied where the profile, or the question, asks for it."""
    ranked = distinct_turns(score_hybrid(found.candidates, profile, now_ms))
    half_life = profile.latest_half_life_days if asks_for_latest(request.query) else None
    ranked = faded(ranked, half_life or profile.decay_half_life_days)
    if profile.mmr_lambda is None:
        return ranked[: request.limit]
    return varied(ranked, request.limit, profile.mmr_lambda)


def varied(ranked: list[HybridScored], limit: int, share: float) -> list[HybridScored]:
    """Keeps the scores and changes the order only."""
    relevance = relative_relevance([row.score for row in ranked])
    passages = [Passage(r.candidate.id, r.candidate.text, value) for r, value in zip(ranked, relevance, strict=True)]
    rows = {row.candidate.id: row for row in ranked}
    return [rows[pick.key] for pick in diversify(passages, limit, share)]


def search_filter(request: SearchRequest, profile: Profile) -> Where:
    """Turns stay searchable after their compaction where the profile says so; superseded summaries never do."""
    visible = Where() if profile.raw_history else Where().equals("active", True)
    where = narrowed(visible, request.filters)
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
    """Returns the signals and the parts of the score by name; signals a record cannot have are left out."""
    parts = scored.candidate.signals.by_name() | dict(zip(SCORE_PARTS, scored[1:-1], strict=True))
    return {name: value for name, value in parts.items() if value is not None}
