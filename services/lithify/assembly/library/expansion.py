"""Leads from a summary back to the raw turns it covers, for audit and recovery (spec 05 §10)."""

from dataclasses import dataclass

from lithify.errors import Invalid
from lithify.events import TenantScope
from lithify.http import NotFound
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.store.reading import every_record


@dataclass(frozen=True, slots=True)
class Expansion:
    """The turns in the order of the conversation; `missing` are the event ids of those that retention has purged."""

    turns: tuple[Record, ...]
    missing: tuple[str, ...]


async def expand_summary(store: VectorStore, scope: TenantScope, record_id: str) -> Expansion:
    """Reads the turns that a summary covers; none covers another summary, so there is nothing to follow further.

    Raises NotFound if the scope has no such record, Invalid if it is no summary.
    """
    records = await store.fetch(scope, COLLECTION, [record_id])
    if not records:
        raise NotFound(f"id: no memory {record_id!r}")
    memory = MemoryRecord.from_payload(records[0].payload)
    if memory.kind != "summary":
        raise Invalid(f"id: {record_id} is a {memory.kind}; only a summary can be expanded")
    owner = TenantScope(memory.tenant, memory.user)
    return await _fetched(store, owner, memory.source_ids)


async def _fetched(store: VectorStore, owner: TenantScope, event_ids: tuple[str, ...]) -> Expansion:
    where = Where().equals("kind", "turn").any_of("event_id", event_ids)
    found = {record.payload["event_id"]: record async for record in every_record(store, owner, COLLECTION, where)}
    turns = sorted(
        (found[event_id] for event_id in event_ids if event_id in found),
        key=lambda record: (record.payload["ts"], record.payload.get("seq") or 0, record.payload["event_id"]),
    )
    return Expansion(tuple(turns), tuple(event_id for event_id in event_ids if event_id not in found))
