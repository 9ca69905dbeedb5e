"""A stored user turn as the gate sees it, together with what an earlier delivery may have made of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lithify.events import Event, TenantScope
from lithify.memory.vectors.tiers import FULL_TIER
from lithify.store import Record, Vector, point_id
from lithify.store.renewal import accepted_at


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """`memory_id` is the id its own durable memory has, or would have; `own` is that memory if it is there."""

    record: Record
    memory_id: str
    own: Record | None = None

    @property
    def owner(self) -> tuple[str, str]:
        return self.record.payload["tenant"], self.record.payload["user"]

    @property
    def scope(self) -> TenantScope:
        return TenantScope(self.record.payload["tenant"])

    @property
    def event_id(self) -> str:
        return str(self.record.payload["event_id"])

    @property
    def text(self) -> str:
        return str(self.record.payload["text"])

    @property
    def ts(self) -> int:
        return int(self.record.payload["ts"])

    @property
    def accepted(self) -> int:
        return accepted_at(self.record)

    @property
    def is_accepted_anew(self) -> bool:
        """Tells whether the memory that is there stems from an earlier acceptance of the turn."""
        return self.own is not None and accepted_at(self.own) < self.accepted

    @property
    def has_vector(self) -> bool:
        return FULL_TIER in self.record.vectors

    @property
    def vector(self) -> Vector:
        return self.record.vectors[FULL_TIER]


def turn_id(event: Event, family: str) -> str:
    return point_id(event.tenant, "turn", event.event_id, family)


def memory_id(event: Event, family: str) -> str:
    return point_id(event.tenant, "memory", event.event_id, family)


def stored_turns(events: Iterable[Event], records: Mapping[str, Record], family: str) -> list[StoredTurn]:
    """Returns the turns in the order of their events, each once; one that is not in the store any more is left out."""
    turns: dict[str, StoredTurn] = {}
    for event in events:
        found = records.get(turn_id(event, family))
        if found is not None:
            own = memory_id(event, family)
            turns[found.id] = StoredTurn(found, own, records.get(own))
    return list(turns.values())
