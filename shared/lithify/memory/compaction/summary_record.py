"""The stored form of a summary: its text, how far to trust it, and what it covers (spec 05 §9)."""

from dataclasses import dataclass

from lithify.memory.compaction.summary_id import Lineage


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
