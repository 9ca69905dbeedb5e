"""What the gate says about one turn, as fields of the stored turn and of its receipt."""

from dataclasses import dataclass
from typing import Any, Final

import orjson

from lithify.gatekeeper.turn import StoredTurn
from lithify.memory.gating.gate import GateDecision

MEMORY_ID: Final = "memory_id"
"""Field of a promoted turn: the durable memory that holds it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`memory_id` is set for a promoted turn: its own memory, or the older one that it only says again."""

    turn: StoredTurn
    decision: GateDecision
    memory_id: str | None

    @property
    def joins(self) -> str | None:
        """The older memory that holds the turn already."""
        return None if self.memory_id == self.turn.memory_id else self.memory_id

    @property
    def makes_memory(self) -> bool:
        """A memory that is there is left alone: it may have been mentioned since."""
        return self.memory_id == self.turn.memory_id and self.turn.own is None

    @property
    def is_recorded(self) -> bool:
        return "gating_score" in self.turn.record.payload

    def payload(self) -> dict[str, Any]:
        """Written to the turn in every case: compaction routes by the score (X08), a second delivery repeats it."""
        return self.decision.as_payload() | ({MEMORY_ID: self.memory_id} if self.memory_id else {})

    def receipt(self, now_ms: int, threshold: float) -> dict[str, str | int]:
        signals = self.decision.as_payload() | {"threshold": threshold}
        told: dict[str, str | int] = {"gated_at": now_ms, "promoted": "1" if self.memory_id else "0"}
        told["gate"] = orjson.dumps(signals).decode()
        return told | ({MEMORY_ID: self.memory_id} if self.memory_id else {})


def earlier_verdict(turn: StoredTurn) -> Verdict | None:
    """Of an earlier delivery: as the turn tells or, if the turn was embedded anew since, as its memory does.

    Memory has grown meanwhile, so that a second look could end otherwise and leave half of the first one's effects.
    """
    target = turn.record.payload.get(MEMORY_ID)
    recorded = GateDecision.from_payload(turn.record.payload, promote=target is not None)
    if recorded is not None:
        return Verdict(turn, recorded, target)
    adopted = None if turn.own is None else GateDecision.from_payload(turn.own.payload, promote=True)
    return None if adopted is None else Verdict(turn, adopted, turn.memory_id)
