"""What is to be forgotten: one memory, a session, a user, or all that came from one source."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Self

from pydantic import JsonValue

from lithify.errors import Invalid
from lithify.events import Event, TenantScope
from lithify.events.scope import SHARED
from lithify.store import Record
from lithify.store.records import join_parts


class TargetKind(StrEnum):
    MEMORY = "memory"
    SESSION = "session"
    USER = "user"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Target:
    """Matched by equality only, never by a prefix (spec 01 N4).

    `name` is the id of the memory, the session or the source. `events` are the turns a memory stems from: they say the
    same, so they go with it.
    """

    tenant: str
    kind: TargetKind
    user: str | None = None
    name: str = ""
    events: tuple[str, ...] = ()

    @property
    def scope(self) -> TenantScope:
        return TenantScope(self.tenant, self.user)

    @property
    def is_whole_session(self) -> bool:
        """Tells whether sessions go as a whole, with all that is kept about them."""
        return self.kind in (TargetKind.SESSION, TargetKind.USER)

    def owns(self, user: str, session: str) -> bool:
        """Tells whether this is a session that goes as a whole."""
        return self.is_whole_session and user == self.user and (self.kind is TargetKind.USER or session == self.name)

    def covers(self, event: Event) -> bool:
        if event.tenant != self.tenant or self.user not in (None, event.user):
            return False
        match self.kind:
            case TargetKind.USER:
                return True
            case TargetKind.SESSION:
                return event.session == self.name
            case TargetKind.SOURCE:
                return event.source_ref == self.name
            case TargetKind.MEMORY:
                return event.event_id in self.events

    def tombstones(self) -> list[str]:
        """Returns the names under which an event finds out that it is meant."""
        user = self.user or ""
        if self.kind is TargetKind.MEMORY:
            return [tombstone(TargetKind.MEMORY, user, event_id) for event_id in self.events]
        return [tombstone(self.kind, user, self.name)]

    def arguments(self) -> dict[str, JsonValue]:
        return asdict(self) | {"events": list(self.events)}

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, JsonValue]) -> Self:
        """Reads a target from the arguments of a job. Raises Invalid if no target made these."""
        match arguments:
            case {
                "tenant": str(tenant),
                "kind": ("memory" | "session" | "user" | "source") as kind,
                "user": (str() | None) as user,
                "name": str(name),
                "events": list(events),
            }:
                return cls(tenant, TargetKind(kind), user, name, events=tuple(map(str, events)))
        raise Invalid(f"these arguments name nothing that can be forgotten: {sorted(arguments)}")


def memory_target(tenant: str, record: Record) -> Target:
    """Targets a memory with the turns that say the same: the one it stems from, and those that were merged into it.

    A summary says nothing of its own and goes alone; its turns come back in its place.
    """
    payload = record.payload
    said = () if payload.get("kind") == "summary" else (payload.get("event_id"), *payload.get("mentions", ()))
    return Target(
        tenant=tenant,
        kind=TargetKind.MEMORY,
        user=payload.get("user", SHARED),
        name=record.id,
        events=tuple(filter(None, said)),
    )


def tombstone(kind: TargetKind, user: str, name: str) -> str:
    return f"{kind.value}:{join_parts(user, name)}"


def tombstones_of(event: Event) -> list[str]:
    """Returns every name under which this event may have been forgotten."""
    names = [
        tombstone(TargetKind.USER, event.user, ""),
        tombstone(TargetKind.SESSION, event.user, event.session),
        tombstone(TargetKind.MEMORY, event.user, event.event_id),
    ]
    if event.source_ref is not None:
        names += [tombstone(TargetKind.SOURCE, user, event.source_ref) for user in ("", event.user)]
    return names
