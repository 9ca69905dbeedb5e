"""Purges raw turns that summaries stand for once they are old enough, if an operator wants that."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import structlog
from pydantic import JsonValue
from redis.asyncio import Redis

from lithify.archive import exclude_copies, rewrite_locked
from lithify.events import EVERY_TENANT, Clock, Event
from lithify.jobs import JobContext
from lithify.store import VectorStore, Where
from lithify.store.memory_record import COLLECTION, PIECE
from lithify.store.reading import every_record

PURGE_JOB: Final = "purge_compacted"
DAY_MS: Final = 86_400_000

EventName = tuple[str, str]
"""Tenant and id of an event."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ArchivedTurns:
    """The archive beside this process, from which a rebuild would bring purged turns back.

    `seal` closes the segment that is being written; None where no archive worker runs.
    """

    archive: Path
    redis: Redis
    seal: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class RawRetention:
    """Keeps raw turns for so many days; 0 days keep everything."""

    store: VectorStore
    days: int
    clock: Clock
    archived: ArchivedTurns | None = None


async def purge_compacted(context: JobContext[RawRetention]) -> JsonValue:
    """Purges the raw turns of every tenant that summaries stand for, once they are old enough, from archive and store.

    What is active, in the tail or without a summary is never touched, however old. May be repeated. Raises Unavailable
    while a rebuild or another copying is under way, which could bring them back.
    """
    retention = context.parts
    if not retention.days:
        return {"purged": 0}
    until_ms = retention.clock() - retention.days * DAY_MS
    if retention.archived is None:
        return {"purged": await purge_records(retention.store, until_ms)}
    archived = retention.archived
    if archived.seal is not None:
        await archived.seal()
    async with exclude_copies(archived.archive, archived.redis):
        # The archive first: whatever stops us in between, the store still tells what is to go from it.
        names = await find_purgeable(retention.store, until_ms)
        names |= await find_purged(retention.store)
        keep = partial(is_kept, names, until_ms)
        lines = (await asyncio.to_thread(rewrite_locked, archived.archive, keep)).removed if names else 0
        return {"purged": await purge_records(retention.store, until_ms), "lines": lines}


async def purge_records(store: VectorStore, until_ms: int) -> int:
    old = purgeable(until_ms)
    count = await store.count(EVERY_TENANT, COLLECTION, old.equals("kind", "turn"))
    if count:
        await store.delete(EVERY_TENANT, COLLECTION, old)
        # Out of the engine's files in the same night, by the job that looks for what was postponed.
        await store.erase_deleted(COLLECTION, most=0)
        log.info("raw_turns_purged", count=count)
    return count


async def find_purgeable(store: VectorStore, until_ms: int) -> set[EventName]:
    where = purgeable(until_ms).equals("kind", "turn")
    return {
        (str(turn.payload["tenant"]), str(turn.payload["event_id"]))
        async for turn in every_record(store, EVERY_TENANT, COLLECTION, where)
    }


async def find_purged(store: VectorStore) -> set[EventName]:
    """Finds turns that summaries stand for and the store has no longer: purged when that left the archive alone."""
    found: set[EventName] = set()
    async for summary in every_record(store, EVERY_TENANT, COLLECTION, Where().equals("kind", "summary")):
        covered = set(summary.payload.get("source_ids", ()))
        where = Where().equals("tenant", summary.payload["tenant"]).equals("kind", "turn").any_of("event_id", covered)
        there = {str(turn.payload["event_id"]) async for turn in every_record(store, EVERY_TENANT, COLLECTION, where)}
        found |= {(str(summary.payload["tenant"]), name) for name in covered - there}
    return found


def is_kept(names: Collection[EventName], until_ms: int, event: Event) -> bool:
    """Tells whether a line stays; one that was said later under a purged id is another turn."""
    return event.ts > until_ms or (event.tenant, event.event_id) not in names


def purgeable(until_ms: int) -> Where:
    """Matches the compacted turns that were said up to that moment, and their pieces."""
    compacted = Where().any_of("kind", ["turn", PIECE]).equals("active", False).present("compacted_into")
    return compacted.between("ts", highest=until_ms)
