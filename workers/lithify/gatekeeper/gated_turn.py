"""A turn that went through the gate: its fields in the store and the receipt, and the durable memory made from it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from lithify.gatekeeper.turn import StoredTurn
from lithify.memory.gating.gate import GateDecision
from lithify.store import Record
from lithify.store.memory_record import MemoryRecord

MEMORY_ID: Final = "memory_id"
"""Field of a promoted turn: the durable memory that holds it."""

PROVENANCE: Final = "durable_user_memory"

# A record has to stay small; whoever repeats a line of a log a thousand times has made the point by then. An older
# mention that falls out would be counted again if its turn came once more.
MAX_MENTIONS: Final = 64


@dataclass(frozen=True, slots=True)
class GatedTurn:
    """`memory_id` is set for a promoted turn: its own memory, or the older one that it only says again."""

    turn: StoredTurn
    decision: GateDecision
    memory_id: str | None

    @property
    def joins(self) -> str | None:
        """Names the older memory that holds the turn already."""
        return None if self.memory_id == self.turn.memory_id else self.memory_id

    @property
    def makes_memory(self) -> bool:
        """Tells whether a memory may have to be written. One that is there is left alone: it may be mentioned by now.

        One of an earlier acceptance may be forgotten just now.
        """
        return self.memory_id == self.turn.memory_id and (self.turn.own is None or self.turn.is_accepted_anew)

    @property
    def is_recorded(self) -> bool:
        return "gating_score" in self.turn.record.payload

    def payload(self) -> dict[str, Any]:
        """Returns the fields written to every turn: compaction routes by the score (X08), a redelivery repeats it."""
        return self.decision.as_payload() | ({MEMORY_ID: self.memory_id} if self.memory_id else {})

    def receipt_fields(self, now_ms: int, threshold: float) -> dict[str, str | int]:
        signals = self.decision.as_payload() | {"threshold": threshold}
        fields: dict[str, str | int] = {"gated_at": now_ms, "promoted": "1" if self.memory_id else "0"}
        fields["gate"] = orjson.dumps(signals).decode()
        return fields | ({MEMORY_ID: self.memory_id} if self.memory_id else {})

    def durable_record(self) -> Record:
        """Makes the durable memory: the turn's vectors and signals under an id of its own, apart from other turns."""
        memory = replace(
            MemoryRecord.from_payload(self.turn.record.payload),
            kind="memory",
            scope="user",
            provenance=PROVENANCE,
            stability=self.decision.stability_weight,
            active=True,
            compacted_into=None,
            position=None,
            bundle_id=None,
            reply_to=None,
            divided=None,
        )
        payload = memory.payload() | self.decision.as_payload()
        return Record(self.turn.memory_id, payload, self.turn.record.vectors, self.turn.record.lexical)


def read_earlier_gating(turn: StoredTurn) -> GatedTurn | None:
    """Reads what an earlier delivery decided, from the turn or, if it was embedded anew since, from its memory.

    Memory has grown meanwhile, so that a second look could end otherwise and leave half of the first one's effects.
    """
    target = turn.record.payload.get(MEMORY_ID)
    recorded = GateDecision.from_payload(turn.record.payload, promote=target is not None)
    if recorded is not None:
        return GatedTurn(turn, recorded, target)
    adopted = None if turn.own is None else GateDecision.from_payload(turn.own.payload, promote=True)
    return None if adopted is None else GatedTurn(turn, adopted, turn.memory_id)


def add_mentions(memory: Mapping[str, Any], turns: Iterable[StoredTurn]) -> dict[str, Any]:
    """Returns the fields of a memory that change when turns say it again; empty if it knows of them all."""
    known = list(memory.get("mentions", ()))
    fresh = {turn.event_id: turn.ts for turn in turns if turn.event_id not in known}
    if not fresh:
        return {}
    return {"mentions": [*known, *fresh][-MAX_MENTIONS:], "ts": max(int(memory["ts"]), *fresh.values())}
