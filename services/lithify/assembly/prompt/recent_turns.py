"""The newest turns of a session: from Redis, or from the store while Redis is away."""

import asyncio
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis

from lithify.errors import LithifyError
from lithify.events import Event, TenantScope
from lithify.memory.prompt.mark import TOOL_ROLE
from lithify.memory.prompt.tail import BASE_TURNS
from lithify.memory.turn import Turn
from lithify.store import Record, VectorStore, Where, point_id
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.streams.tail import read_tail

# A session of this many turns is read in one page; longer ones are narrowed down first.
PAGE: Final = 512
# Of what people said; the mandatory tail has as many (spec 07).
ENOUGH: Final = BASE_TURNS
# The `source_kind` of turns by which a host only shows that it is alive (spec 01 §5).
HEARTBEAT: Final = "heartbeat"
# What the older turns of a short list may cost; the newest ones are here already.
PATIENCE_S: Final = 0.05
# One past the largest position a turn may have.
END: Final = 2**53


@dataclass(frozen=True, slots=True)
class RecentTurns:
    """Reads at most `limit` of the newest turns of a session."""

    redis: Redis
    store: VectorStore
    partitions: int
    limit: int
    family: str = ""  # of the embedding model; without it, accepted turns have no ids of records

    async def read_accepted(self, scope: TenantScope, session: str) -> list[Turn]:
        """Reads turns as they were accepted, embedded or not, without heartbeats. Raises Unavailable if Redis is away.

        Where the list holds fewer than `ENOUGH` things that people said, because it was lost, has run out or was filled
        by tools, the store is asked for what was said before.
        """
        events = await read_tail(self.redis, scope, session, limit=self.limit, partitions=self.partitions)
        turns = [spoken_turn(event, self.family) for event in events if event.source_kind != HEARTBEAT]
        if sum(turn.role != TOOL_ROLE for turn in turns) >= ENOUGH:
            return turns
        known = {turn.id for turn in turns}
        try:
            async with asyncio.timeout(PATIENCE_S):
                older = [turn for turn in await self.read_stored(scope, session) if turn.id not in known]
        except (TimeoutError, LithifyError):
            return turns  # what the store cannot say, recall complains of
        return sorted((*older, *turns), key=lambda turn: (turn.seq, turn.ts, turn.id))[-self.limit :]

    async def read_stored(self, scope: TenantScope, session: str) -> list[Turn]:
        """Reads turns as embedded: the very newest may be missing. Raises Unavailable if the store is away."""
        records = await self.read_stored_records(scope, session)
        turns = sorted(map(stored_turn, records), key=lambda turn: (turn.seq, turn.id))
        return turns[-self.limit :]

    async def read_stored_records(self, scope: TenantScope, session: str) -> list[Record]:
        """Reads the newest, compacted or not, at least `limit` of them if there are so many; in no order."""
        own = TenantScope(scope.tenant, scope.user)
        where = Where().equals("session", session).equals("kind", "turn")
        lowest = await self._lowest(own, where)
        page = await self.store.scroll(own, COLLECTION, where.between("seq", lowest), limit=PAGE)
        return page.records

    async def _lowest(self, scope: TenantScope, where: Where) -> int:
        """Finds by halving a position from which on there are enough turns but at most a page of them."""
        low, high = 0, END
        while await self.store.count(scope, COLLECTION, where.between("seq", low)) > PAGE:
            middle = (low + high) // 2
            enough = await self.store.count(scope, COLLECTION, where.between("seq", middle)) >= self.limit
            low, high = (middle, high) if enough else (low, middle)
            if high - low <= 1:
                break
        return low


def spoken_turn(event: Event, family: str) -> Turn:
    becomes_memory = family and event.role != TOOL_ROLE
    return Turn(
        id=event.event_id,
        ts=event.ts,
        role=event.role,
        text=event.text,
        seq=event.seq or 0,
        bundle_id=event.bundle_id or "",
        reply_to=event.reply_to or "",
        user=event.user,
        memory_id=point_id(event.tenant, "turn", event.event_id, family) if becomes_memory else "",
    )


def stored_turn(record: Record) -> Turn:
    memory = MemoryRecord.from_payload(record.payload)
    return Turn(
        id=memory.event_id or record.id,
        ts=memory.ts,
        role=memory.role or "",
        text=memory.text,
        seq=memory.seq or 0,
        bundle_id=memory.bundle_id or "",
        reply_to=memory.reply_to or "",
        user=memory.user,
        memory_id=record.id,
    )
