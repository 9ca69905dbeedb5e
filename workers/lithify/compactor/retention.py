"""Purges raw turns that summaries stand for once they are old enough, if an operator wants that."""

from dataclasses import dataclass
from typing import Final

import structlog
from pydantic import JsonValue

from lithify.events import EVERY_TENANT, Clock
from lithify.jobs import JobContext
from lithify.store import VectorStore, Where
from lithify.store.memory_record import COLLECTION, PIECE

PURGE_JOB: Final = "purge_compacted"
DAY_MS: Final = 86_400_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RawRetention:
    """Keeps raw turns for so many days; 0 days keep everything."""

    store: VectorStore
    days: int
    clock: Clock


async def purge_compacted(context: JobContext[RawRetention]) -> JsonValue:
    """Purges the raw turns of every tenant that summaries stand for, once they are old enough.

    What is active, in the tail or without a summary is never touched, however old.
    """
    retention = context.parts
    if not retention.days:
        return {"purged": 0}
    old = purgeable(retention.clock() - retention.days * DAY_MS)
    count = await retention.store.count(EVERY_TENANT, COLLECTION, old.equals("kind", "turn"))
    if count:
        await retention.store.delete(EVERY_TENANT, COLLECTION, old)
        log.info("raw_turns_purged", count=count, days=retention.days)
    return {"purged": count}


def purgeable(until_ms: int) -> Where:
    """Matches the compacted turns that were said up to that moment, and their pieces."""
    compacted = Where().any_of("kind", ["turn", PIECE]).equals("active", False).present("compacted_into")
    return compacted.between("ts", highest=until_ms)
