"""Converts summaries to store records, and stored records to what planning works with."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

from lithify.compaction import SessionKey
from lithify.memory.compaction.summary import Lineage, SummaryRecord, summary_id
from lithify.memory.temporal.anchors import anchor_density
from lithify.memory.turn import Turn
from lithify.store import point_id
from lithify.store.memory_record import MemoryRecord
from lithify.store.records import join_parts

# What a summary measured of itself lies beside its origins: nothing but an explanation reads it.
MEASURED: Final = ("id", "align", "cover", "conf_embed", "conf_decoder")


def turn_from_memory(memory: MemoryRecord) -> Turn:
    return Turn(
        id=memory.event_id or "",
        ts=memory.ts,
        role=memory.role or "",
        text=memory.text,
        seq=memory.seq or 0,
        kind=memory.kind,
        bundle_id=memory.bundle_id or "",
        reply_to=memory.reply_to or "",
        user=memory.user,
        gating_score=memory.gating_score,
    )


def summary_point(key: SessionKey, summary: str, family: str) -> str:
    """Names the record of a summary; the session is part of the summary's own id, the user is not."""
    return point_id(key.tenant, "summary", join_parts(key.user, summary), family)


def summary_memory(key: SessionKey, summary: SummaryRecord, fingerprint: str) -> MemoryRecord:
    lineage = asdict(summary.lineage) | {name: getattr(summary, name) for name in MEASURED}
    return MemoryRecord(
        tenant=key.tenant,
        user=key.user,
        kind="summary",
        scope="session",
        text=summary.text,
        # Not the time of compaction, which would make old content look new (spec 05 §9).
        ts=int(summary.lineage.source_ts_max),
        session=key.session,
        token_estimate=summary.token_estimate,
        anchors=anchor_density(summary.text),
        provenance="session_summary",
        embedding=fingerprint,
        source_ids=summary.source_ids,
        method=summary.method,
        confidence=summary.confidence,
        decay_rate=summary.decay_rate,
        lineage=to_json(lineage),
    )


def earliest_acceptance(turns: Iterable[MemoryRecord]) -> int | None:
    """Returns when the first of the turns was accepted; None if that is not known of each, as in old releases."""
    moments = [turn.accepted for turn in turns]
    known = [moment for moment in moments if moment is not None]
    return min(known) if known and len(known) == len(moments) else None


def summary_from_memory(memory: MemoryRecord) -> SummaryRecord:
    lineage = memory.lineage or {}
    method = memory.method or ""
    confidence = memory.confidence or 0.0
    return SummaryRecord(
        id=summary_id(memory.session or "", memory.source_ids),
        session=memory.session or "",
        user=memory.user,
        ts=lineage.get("compacted_at", memory.ts),
        text=memory.text,
        method=method,
        token_estimate=memory.token_estimate,
        confidence=confidence,
        decay_rate=memory.decay_rate,
        align=lineage.get("align", 0.0),
        cover=lineage.get("cover", 0.0),
        conf_embed=lineage.get("conf_embed", 0.0),
        conf_decoder=lineage.get("conf_decoder"),
        lineage=Lineage(
            source_turn_ids=memory.source_ids,
            source_ts_min=lineage.get("source_ts_min", memory.ts),
            source_ts_max=lineage.get("source_ts_max", memory.ts),
            compacted_at=lineage.get("compacted_at", memory.ts),
            method=method,
            confidence=confidence,
            support_summary_ids=tuple(lineage.get("support_summary_ids", ())),
            support_tokens=lineage.get("support_tokens", 0),
        ),
    )


def to_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values as they will come back from the store: lists for tuples, nothing for None."""
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items() if value is not None
    }
