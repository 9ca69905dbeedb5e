"""A session as it lies in memory: turns as they were said, what became of them, and what was made from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis

from lithify.assembly.library.schema import (
    SessionSeen,
    SessionsView,
    SummaryView,
    TimelineMemory,
    TimelineTurn,
    TimelineView,
)
from lithify.assembly.prompt.recent_turns import RecentTurns
from lithify.events import Event, TenantScope
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.store.readable import note_unreadable
from lithify.streams.tail import read_tail

# Of summaries and of durable memories; a page for people, not an export.
MOST_MADE: Final = 200
# Records looked at to name a user's sessions, in pages of this size.
PAGE: Final = 512
PAGES: Final = 8


@dataclass(frozen=True, slots=True)
class Timelines:
    """Reads what became of the sessions of a user."""

    store: VectorStore
    redis: Redis
    partitions: int

    async def read(self, scope: TenantScope, session: str, limit: int) -> TimelineView:
        """Reads the timeline of a session; `scope` names the user. Raises Unavailable if Redis or the store is away."""
        with note_unreadable() as left_out:
            view = await self._read(scope, session, limit)
        return view.model_copy(update={"unreadable": len(left_out.ids)})

    async def _read(self, scope: TenantScope, session: str, limit: int) -> TimelineView:
        recent = RecentTurns(self.redis, self.store, self.partitions, limit)
        tail = await read_tail(self.redis, scope, session, limit=limit, partitions=self.partitions)
        stored = await recent.read_stored_records(scope, session)
        return TimelineView(
            user=scope.user or "",
            session=session,
            turns=merge_turns(tail, stored)[-limit:],
            summaries=[SummaryView.of(record) for record in await self._read_derived(scope, session, "summary")],
            memories=[TimelineMemory.of(record) for record in await self._read_derived(scope, session, "memory")],
        )

    async def list_sessions(self, scope: TenantScope) -> SessionsView:
        """Names the sessions found among a bounded number of the user's turns, the one spoken in last first."""
        found: dict[str, SessionSeen] = {}
        after: str | None = None
        for _ in range(PAGES):
            page = await self.store.scroll(scope, COLLECTION, Where().equals("kind", "turn"), limit=PAGE, after=after)
            count_sessions(found, map(read_memory, page.records))
            after = page.next
            if after is None:
                break
        ordered = sorted(found.values(), key=lambda seen: (-seen.last_ts, seen.session))
        return SessionsView(user=scope.user or "", sessions=ordered, complete=after is None)

    async def _read_derived(self, scope: TenantScope, session: str, kind: str) -> list[Record]:
        where = Where().equals("session", session).equals("kind", kind)
        page = await self.store.scroll(scope, COLLECTION, where, limit=MOST_MADE)
        return sorted(page.records, key=lambda record: (record.payload["ts"], record.id))


def read_memory(record: Record) -> MemoryRecord:
    return MemoryRecord.from_payload(record.payload)


def merge_turns(tail: Iterable[Event], stored: Iterable[Record]) -> list[TimelineTurn]:
    """Returns each turn once, in the order of speaking; one that is only in the tail cannot be searched yet."""
    turns = {turn.event_id: turn for turn in map(TimelineTurn.of_record, stored)}
    for event in tail:
        known = turns.get(event.event_id)
        turns[event.event_id] = (
            TimelineTurn.of_event(event) if known is None else known.model_copy(update={"in_tail": True})
        )
    return sorted(turns.values(), key=lambda turn: (turn.seq or 0, turn.ts, turn.event_id))


def count_sessions(found: dict[str, SessionSeen], turns: Iterable[MemoryRecord]) -> None:
    for turn in turns:
        name = turn.session or ""
        known = found.get(name) or SessionSeen(session=name, turns=0, first_ts=turn.ts, last_ts=turn.ts)
        found[name] = SessionSeen(
            session=name,
            turns=known.turns + 1,
            first_ts=min(known.first_ts, turn.ts),
            last_ts=max(known.last_ts, turn.ts),
        )
