"""The newest turns of a session: from Redis, or from the store while Redis is away."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from redis.asyncio import Redis

from lithify.errors import LithifyError
from lithify.events import Event, TenantScope, is_heartbeat
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
# One past the largest position a turn may have.
END: Final = 2**53


class TurnsRead(NamedTuple):
    """Turns in the order of speaking, and what could not be read of them."""

    turns: list[Turn]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecentTurns:
    """Reads at most `limit` of the newest turns of a session from each place that has them."""

    redis: Redis
    store: VectorStore
    partitions: int
    limit: int
    family: str = ""  # of the embedding model; without it, accepted turns have no ids of records

    async def read_accepted(self, scope: TenantScope, session: str, patience_s: float) -> TurnsRead:
        """Reads turns as they were accepted, embedded or not, without heartbeats. Raises Unavailable if Redis is away.

        Where the list holds fewer than `ENOUGH` things that people said, because it was lost, has run out or was filled
        by tools, the store is asked for what was said before, and `missing` says if it has no answer in time.
        """
        events = await read_tail(self.redis, scope, session, limit=self.limit, partitions=self.partitions)
        turns = [spoken_turn(event, self.family) for event in events if not is_heartbeat(event)]
        if sum(turn.role != TOOL_ROLE for turn in turns) >= ENOUGH:
            return TurnsRead(turns)
        try:
            async with asyncio.timeout(patience_s):
                stored = await self.read_stored(scope, session)
        except TimeoutError:
            return TurnsRead(turns, ("earlier turns of this session did not come in time",))
        except LithifyError as error:
            return TurnsRead(turns, (f"earlier turns of this session cannot be read: {error}",))
        return TurnsRead(add_earlier(turns, stored))

    async def read_stored(self, scope: TenantScope, session: str) -> list[Turn]:
        """Reads turns as embedded: the very newest may be missing. Raises Unavailable if the store is away."""
        records = await self.read_stored_records(scope, session)
        turns = sorted(map(stored_turn, records), key=lambda turn: (turn.seq, turn.id))
        return turns[-self.limit :]

    async def read_all_stored(self, scope: TenantScope, session: str) -> TurnsRead:
        """Reads what is stored where Redis has no answer."""
        return TurnsRead(await self.read_stored(scope, session))

    async def read_stored_records(self, scope: TenantScope, session: str) -> list[Record]:
        """Reads the newest, compacted or not, at least `limit` of them if there are so many; in no order."""
        own = TenantScope(scope.tenant, scope.user)
        where = Where().equals("session", session).equals("kind", "turn")
        page = await self.store.scroll(own, COLLECTION, where.between("seq", 0), limit=PAGE)
        if page.next is None:
            return page.records
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


def add_earlier(turns: Sequence[Turn], stored: Sequence[Turn]) -> list[Turn]:
    """Puts stored turns before accepted ones: what the list of the newest does not hold was said before them.

    Positions cannot tell, for a session whose counter was lost counts from 1 again.
    """
    known = {turn.id for turn in turns}
    return [*(turn for turn in stored if turn.id not in known), *turns]


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
