"""Leads from a summary back to the raw turns it covers, for audit and recovery (spec 05 §10)."""

from collections.abc import Mapping
from dataclasses import dataclass

from lithify.errors import Invalid
from lithify.events import TenantScope
from lithify.http import NotFound
from lithify.memory.compaction.expansion import MAX_DEPTH, expand
from lithify.memory.compaction.summary_id import Edge, coverage_edges, edge_id, summary_id
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.store.reading import every_record


@dataclass(frozen=True, slots=True)
class Expansion:
    """The turns in the order of the conversation; `missing` are the event ids of those that retention has purged."""

    turns: tuple[Record, ...]
    missing: tuple[str, ...]


async def expand_summary(
    store: VectorStore, scope: TenantScope, record_id: str, max_depth: int = MAX_DEPTH
) -> Expansion:
    """Raises NotFound if the scope has no such record, Invalid if it is no summary."""
    records = await store.fetch(scope, COLLECTION, [record_id])
    if not records:
        raise NotFound(f"id: no memory {record_id!r}")
    memory = MemoryRecord.from_payload(records[0].payload)
    if memory.kind != "summary":
        raise Invalid(f"id: {record_id} is a {memory.kind}; only a summary can be expanded")
    owner = TenantScope(memory.tenant, memory.user)
    known = await _summaries(store, owner, memory)
    raw = expand(_name(memory), lambda parent: _edges(known, parent), max_depth)
    return await _fetched(store, owner, raw)


def _name(summary: MemoryRecord) -> str:
    return summary_id(summary.session or "", summary.source_ids)


async def _summaries(store: VectorStore, owner: TenantScope, summary: MemoryRecord) -> dict[str, MemoryRecord]:
    """By their names. The others of the session are read only for a summary that was made of summaries."""
    if not (summary.lineage or {}).get("parent_summary_ids"):
        return {_name(summary): summary}
    where = Where().equals("kind", "summary").equals("session", summary.session or "")
    found = [
        MemoryRecord.from_payload(record.payload) async for record in every_record(store, owner, COLLECTION, where)
    ]
    return {_name(memory): memory for memory in found}


def _edges(known: Mapping[str, MemoryRecord], parent: str) -> list[Edge]:
    """What the parent was made of: its sources in their order, then the summaries behind it."""
    memory = known.get(parent)
    if memory is None:
        return []
    turns = coverage_edges(parent, memory.source_ids)
    behind = (memory.lineage or {}).get("parent_summary_ids", ())
    summaries = [
        Edge(edge_id(parent, child), parent, child, len(turns) + i, "summary") for i, child in enumerate(behind)
    ]
    return [*turns, *summaries]


async def _fetched(store: VectorStore, owner: TenantScope, event_ids: tuple[str, ...]) -> Expansion:
    where = Where().equals("kind", "turn").any_of("event_id", event_ids)
    found = {record.payload["event_id"]: record async for record in every_record(store, owner, COLLECTION, where)}
    turns = sorted(
        (found[event_id] for event_id in event_ids if event_id in found),
        key=lambda record: (record.payload["ts"], record.payload.get("seq") or 0, record.payload["event_id"]),
    )
    return Expansion(tuple(turns), tuple(event_id for event_id in event_ids if event_id not in found))
