"""Defines a summary: its text, how far to trust it, what it covers, and an id made of that (spec 05 §9)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

ID_HEX_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Lineage:
    """Says where a summary came from; it always comes from somewhere.

    `source_turn_ids` are its coverage edges (spec 05 §9, step 4): they are stored with the summary, in order.
    """

    source_turn_ids: tuple[str, ...]
    source_ts_min: float
    source_ts_max: float
    compacted_at: float
    method: str
    confidence: float
    support_summary_ids: tuple[str, ...] = ()
    support_tokens: int = 0

    def __post_init__(self) -> None:
        if not self.source_turn_ids:
            raise ValueError("a summary must cover at least one turn")


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """Recency reads `lineage.source_ts_max`; `ts` says when it was written and would make old content look new."""

    id: str
    session: str
    user: str
    ts: float
    text: str
    method: str
    token_estimate: int
    confidence: float
    decay_rate: float
    align: float
    cover: float
    conf_embed: float
    conf_decoder: float | None
    lineage: Lineage

    @property
    def source_ids(self) -> tuple[str, ...]:
        return self.lineage.source_turn_ids


def summary_id(session: str, source_ids: Sequence[str]) -> str:
    """Names a summary by what it covers, so that writing it twice is writing it once."""
    digest = hashlib.sha256(f"{session}:{','.join(source_ids)}".encode()).hexdigest()
    return f"summary:{digest[:ID_HEX_DIGITS]}"
