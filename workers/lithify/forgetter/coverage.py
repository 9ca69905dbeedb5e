"""Which summaries a forgetting takes along: all that may hold words of a forgotten turn."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from lithify.memory.compaction.summary_id import summary_id
from lithify.store import Record


def covering(summaries: Sequence[Record], events: Collection[str], ids: Collection[str] = ()) -> list[Record]:
    """Those that cover one of the events or are named by their ids, and those that were written with such a one at
    hand: an abstractive summary may have taken over its words."""
    doomed = {record.id: record for record in summaries if record.id in ids or not sources(record).isdisjoint(events)}
    rest = {record.id: record for record in summaries if record.id not in doomed}
    while found := _resting_on(rest.values(), {own_id(record.payload) for record in doomed.values()}):
        doomed |= found
        rest = {id_: record for id_, record in rest.items() if id_ not in found}
    return list(doomed.values())


def _resting_on(summaries: Iterable[Record], doomed: Collection[str]) -> dict[str, Record]:
    return {record.id: record for record in summaries if not foundations(record.payload).isdisjoint(doomed)}


def sources(record: Record) -> set[str]:
    return set(record.payload.get("source_ids", ()))


def own_id(payload: Mapping[str, Any]) -> str:
    """As other summaries name it."""
    return summary_id(payload.get("session") or "", payload.get("source_ids", ()))


def foundations(payload: Mapping[str, Any]) -> set[str]:
    lineage = payload.get("lineage") or {}
    return {*lineage.get("parent_summary_ids", ()), *lineage.get("support_summary_ids", ())}
