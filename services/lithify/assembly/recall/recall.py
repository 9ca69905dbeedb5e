"""Asks the store for an assembly: every pool the session may see, in time, and from the cache where nothing changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from redis.asyncio import Redis

from lithify.assembly.deadlines import Deadline, finish_by
from lithify.assembly.recall.caches import Generations, RecallCache, cache_key, profile_digest, subjects
from lithify.assembly.recall.dated import wanted_dates
from lithify.assembly.recall.found import FoundMemories
from lithify.assembly.recall.legs import join_legs
from lithify.assembly.recall.pools import Pool, is_retrievable, session_pools
from lithify.assembly.recall.reach import Reach, assembly_reach, core_reach
from lithify.assembly.recall.retrieval import (
    RecallQuery,
    Retriever,
    ShownTurnIds,
    nothing_shown,
)
from lithify.errors import Unavailable
from lithify.events import TenantScope
from lithify.memory.ranking.profile import Profile
from lithify.streams.generations import read_generations


@dataclass(frozen=True, slots=True)
class Recalled:
    """Holds what was found, and whether any of it came from the cache."""

    found: FoundMemories
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Recall:
    """Recalls memories for a prompt, from every pool that its session may see."""

    retriever: Retriever
    redis: Redis
    profile: Profile
    cache: RecallCache = field(default_factory=RecallCache)

    async def find(
        self,
        scope: TenantScope,
        query: str,
        session: str,
        room: float,
        deadline: Deadline,
        *,
        shown: ShownTurnIds = nothing_shown,
    ) -> Recalled:
        """Finds what may fill `room` tokens beside the turns that are `shown` anyway.

        Never raises for a missing or slow dependency: what could not be asked is named in `degraded`.
        """
        reach = assembly_reach(self.profile, room)
        parts = [
            await self._search(scope, pool, self._pool_query(query, pool, session, reach), deadline, shown=shown)
            for pool in session_pools(self.profile, session)
        ]
        return Recalled(merge_found([part.found for part in parts]), cached=any(part.cached for part in parts))

    async def _search(
        self, scope: TenantScope, pool: Pool, query: RecallQuery, deadline: Deadline, *, shown: ShownTurnIds
    ) -> Recalled:
        generations = await self._generations(scope, deadline) if pool.lasting else None
        if generations is None:
            return Recalled(await self.retriever.retrieve_in_time(scope, query, deadline, shown))
        recalled = await self._search_cached(scope, query, deadline, generations)
        # What is kept serves every prompt of the user. Only if it holds what this one shows anyway, there is a search.
        if (await shown()).isdisjoint(memory.event_id for memory in recalled.found.memories.values()):
            return recalled
        return Recalled(await self.retriever.retrieve_in_time(scope, query, deadline, shown))

    async def _search_cached(
        self, scope: TenantScope, query: RecallQuery, deadline: Deadline, generations: Generations
    ) -> Recalled:
        key = cache_key(
            scope,
            query.text,
            depth=query.depth,
            profile=profile_digest(self.profile),
            fingerprint=self.retriever.fingerprint,
        )
        kept = self.cache.get(key, generations)
        if kept is not None:
            return Recalled(kept, cached=True)
        found = await self.retriever.retrieve_in_time(scope, query, deadline)
        self.cache.put(key, generations, found)
        return Recalled(found)

    async def _generations(self, scope: TenantScope, deadline: Deadline) -> Generations | None:
        """Returns the generations an entry must have; None while nobody can say whether the cache is stale."""
        try:
            return await finish_by(read_generations(self.redis, scope.tenant, subjects(scope)), deadline)
        except Unavailable:
            return None

    def _pool_query(self, query: str, pool: Pool, session: str, reach: Reach) -> RecallQuery:
        return RecallQuery(
            text=query,
            where=pool.where,
            session=session,
            reach=reach,
            core=core_reach(self.profile),
            dense_by_maximum=self.profile.dense_by_maximum,
            window=self.profile.window,
            is_judged=self.profile.relevance_floor is not None,
            dated=wanted_dates(query, self.profile),
        )


def merge_found(parts: Sequence[FoundMemories]) -> FoundMemories:
    """Returns one list without rules and without repetition, whichever pool a record came from."""
    found = unite_found(parts)
    return replace(found, candidates=[c for c in found.candidates if is_retrievable(found.memories[c.id])])


def unite_found(parts: Sequence[FoundMemories]) -> FoundMemories:
    """Returns what several searches found as one list, each record once."""
    if len(parts) == 1:
        return parts[0]
    legs = [part.legs for part in parts if part.legs is not None]
    return FoundMemories(
        candidates=list({c.id: c for part in parts for c in part.candidates}.values()),
        memories={key: memory for part in parts for key, memory in part.memories.items()},
        degraded=list(dict.fromkeys(reason for part in parts for reason in part.degraded)),
        tiers=[tier for part in parts for tier in part.tiers],
        legs=join_legs(legs) if legs else None,
    )
