"""Names summaries and coverage edges by what they cover, so that writing twice is writing once (spec 05 §9)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

ID_HEX_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Edge:
    """Says that `parent` covers `child`; raw history and active view share a collection, so a kind tells them apart."""

    id: str
    parent: str
    child: str
    order: int
    child_kind: str = "turn"


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a summary came from; it always comes from somewhere."""

    source_turn_ids: tuple[str, ...]
    source_ts_min: float
    source_ts_max: float
    compacted_at: float
    method: str
    confidence: float
    parent_summary_ids: tuple[str, ...] = ()
    support_summary_ids: tuple[str, ...] = ()
    support_tokens: int = 0

    def __post_init__(self) -> None:
        if not self.source_turn_ids:
            raise ValueError("a summary must cover at least one turn")


def summary_id(session: str, source_ids: Sequence[str]) -> str:
    digest = hashlib.sha256(f"{session}:{','.join(source_ids)}".encode()).hexdigest()
    return f"summary:{digest[:ID_HEX_DIGITS]}"


def edge_id(summary: str, child: str) -> str:
    return f"edge:{summary}:{child}"


def coverage_edges(summary: str, source_ids: Sequence[str]) -> tuple[Edge, ...]:
    return tuple(Edge(edge_id(summary, child), summary, child, order) for order, child in enumerate(source_ids))
