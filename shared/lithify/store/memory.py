"""One record of the collection `memories`, as dataclass inside and as payload in the store."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Self

COLLECTION: Final = "memories"


@dataclass(frozen=True, slots=True)
class Memory:
    """A turn, durable memory, summary, authored node or guidance shard; times in milliseconds."""

    tenant: str
    user: str
    kind: str
    scope: str
    text: str
    ts: int
    session: str | None = None
    event_id: str | None = None
    role: str | None = None
    seq: int | None = None
    agent: str | None = None
    bundle_id: str | None = None
    reply_to: str | None = None
    source_kind: str | None = None
    source_ref: str | None = None
    meta: Mapping[str, Any] | None = None
    token_estimate: int = 0
    anchors: float = 0.0  # A(d) of spec 09, the same for every query
    stability: float = 0.0
    active: bool = True  # false once compacted; the raw turn stays
    compacted_into: str | None = None
    provenance: str | None = None
    embedding: str | None = None  # fingerprint of the model that made the vectors
    missing_tiers: tuple[str, ...] = ()  # vectors still to be made; backfill looks for these

    def payload(self) -> dict[str, Any]:
        present = {name: value for name, value in asdict(self).items() if value is not None}
        return present | {"missing_tiers": list(self.missing_tiers)}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        """Unknown keys are left alone: a newer release may have written them."""
        known = {f.name: payload[f.name] for f in fields(cls) if f.name in payload}
        return cls(**known | {"missing_tiers": tuple(payload.get("missing_tiers", ()))})
