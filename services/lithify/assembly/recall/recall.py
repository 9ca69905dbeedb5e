"""Asks the store for an assembly: every pool the session may see, in time, and from the cache where nothing changed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from redis.asyncio import Redis

from lithify.assembly.deadlines import Deadline, Late, hedged, in_time
from lithify.assembly.recall.caches import Generations, RecallCache, cache_key, digest_of, subjects
from lithify.assembly.recall.pools import Pool, pools, retrievable
from lithify.assembly.recall.retrieval import Found, Question, Retriever
from lithify.errors import Unavailable
from lithify.events import TenantScope
from lithify.memory.ranking.profile import Profile
from lithify.store import LEXICAL
from lithify.streams.generations import current

LEXICAL_ONLY = frozenset({LEXICAL})
LATE_STORE = "stored memories did not answer in time"
LATE_VECTOR = "the meaning of the query did not come in time; memories were found by their words alone"


@dataclass(frozen=True, slots=True)
class Recalled:
    found: Found
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Recall:
    retriever: Retriever
    redis: Redis
    profile: Profile
    cache: RecallCache = field(default_factory=RecallCache)

    async def find(self, scope: TenantScope, query: str, session: str, room: float, deadline: Deadline) -> Recalled:
        """What may fill `room` tokens.

        Never raises for a missing or slow dependency: what could not be asked is named in `degraded`.
        """
        depth = self.profile.leg_depth(room)
        asked = [
            await self._search(scope, pool, self._question(query, pool, session, depth), deadline)
            for pool in pools(self.profile, session)
        ]
        return Recalled(united([part.found for part in asked]), cached=any(part.cached for part in asked))

    async def _search(self, scope: TenantScope, pool: Pool, question: Question, deadline: Deadline) -> Recalled:
        if not pool.lasting:
            return Recalled(await self._ask(scope, question, deadline))
        generations = await self._generations(scope, deadline)
        if generations is None:
            return Recalled(await self._ask(scope, question, deadline))
        profile, model = digest_of(self.profile), self.retriever.embedder.fingerprint
        key = cache_key(scope, question.text, question.depth, profile, model)
        kept = self.cache.get(key, generations)
        if kept is not None:
            return Recalled(kept, cached=True)
        found = await self._ask(scope, question, deadline)
        self.cache.put(key, generations, found)
        return Recalled(found)

    async def _ask(self, scope: TenantScope, question: Question, deadline: Deadline) -> Found:
        """A slow embedder costs the dense leg, a slow store all of it."""
        by_words = replace(question, legs=LEXICAL_ONLY)
        try:
            answer = await hedged(
                lambda: self.retriever.retrieve(scope, question),
                lambda: self.retriever.retrieve(scope, by_words),
                deadline,
            )
        except Late:
            return Found(degraded=[LATE_STORE])
        found = answer.value
        return found if answer.failure is None else replace(found, degraded=[LATE_VECTOR])

    async def _generations(self, scope: TenantScope, deadline: Deadline) -> Generations | None:
        """None while nobody can say whether the cache is stale."""
        try:
            return await in_time(current(self.redis, scope.tenant, subjects(scope)), deadline)
        except Unavailable:
            return None

    def _question(self, query: str, pool: Pool, session: str, depth: int) -> Question:
        return Question(
            text=query,
            where=pool.where,
            session=session,
            depth=depth,
            shortlist=depth,
            dense_by_maximum=self.profile.dense_by_maximum,
            window=self.profile.window,
            passages=math.ceil(depth * self.profile.passage_share),
        )


def united(parts: Sequence[Found]) -> Found:
    """One list without rules and without repetition, whichever pool a record came from."""
    memories = {key: memory for part in parts for key, memory in part.memories.items()}
    candidates = {c.id: c for part in parts for c in part.candidates if retrievable(memories[c.id])}
    degraded = dict.fromkeys(reason for part in parts for reason in part.degraded)
    tiers = [tier for part in parts for tier in part.tiers]
    return Found(list(candidates.values()), memories, list(degraded), tiers)
