"""Makes the record by which a standing instruction outlives its session; gate and compaction make the same one."""

from dataclasses import replace

from lithify.memory.guidance import is_general_instruction
from lithify.store.memory_record import MemoryRecord
from lithify.store.records import Record, point_id


def guidance_id(tenant: str, event_id: str, family: str) -> str:
    """Names the guidance of a turn: made a second time it takes the place of the first."""
    return point_id(tenant, "guidance", event_id, family)


def make_guidance(turn: Record, family: str, scope: str = "user") -> Record:
    """Repeats the turn's words and vectors as advice that belongs to the user and outlives the session."""
    memory = MemoryRecord.from_payload(turn.payload)
    kept = replace(
        memory,
        kind="guidance",
        scope=scope,
        active=True,
        compacted_into=None,
        position=None,
        divided=None,
        provenance="elevated_guidance",
        general=is_general_instruction(memory.text) or None,
    )
    return replace(turn, id=guidance_id(memory.tenant, memory.event_id or "", family), payload=kept.payload())
