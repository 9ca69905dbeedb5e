"""The durable record of a promoted turn, and what a repeated turn changes in the memory it joins."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from lithify.gatekeeper.turn import StoredTurn
from lithify.memory.gating.gate import GateDecision
from lithify.store import Record
from lithify.store.memory_record import MemoryRecord

PROVENANCE: Final = "durable_user_memory"

# A record has to stay small; whoever repeats a line of a log a thousand times has made the point by then. An older
# mention that falls out would be counted again if its turn came once more.
MAX_MENTIONS: Final = 64


def durable_record(turn: StoredTurn, decision: GateDecision) -> Record:
    """The turn with its vectors and signals under an id of its own; it no longer stands between other turns."""
    memory = replace(
        MemoryRecord.from_payload(turn.record.payload),
        kind="memory",
        scope="user",
        provenance=PROVENANCE,
        stability=decision.stability_weight,
        active=True,
        compacted_into=None,
        position=None,
        bundle_id=None,
        reply_to=None,
    )
    payload = memory.payload() | decision.as_payload()
    return Record(turn.memory_id, payload, turn.record.vectors, turn.record.lexical)


def with_mentions(memory: Mapping[str, Any], turns: Iterable[StoredTurn]) -> dict[str, Any]:
    """The fields of a memory that change when turns say it again; empty if it knows of them all."""
    known = list(memory.get("mentions", ()))
    fresh = {turn.event_id: turn.ts for turn in turns if turn.event_id not in known}
    if not fresh:
        return {}
    return {"mentions": [*known, *fresh][-MAX_MENTIONS:], "ts": max(int(memory["ts"]), *fresh.values())}
