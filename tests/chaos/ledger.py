"""What the driver knows by itself: every turn it sent, and what it was told about it."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from lithify.events import Role
from lithify.events.scope import DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class Turn:
    event_id: str
    user: str
    session: str
    role: str
    text: str

    def body(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Facts:
    """What must come out of the store as it went in."""

    tenant: str
    user: str
    session: str
    role: str
    text_hash: str

    @property
    def becomes_memory(self) -> bool:
        return self.role != Role.TOOL


def facts_of(turn: Turn) -> Facts:
    return Facts(DEFAULT_TENANT, turn.user, turn.session, turn.role, hash_of(turn.text))


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(slots=True)
class Ledger:
    """Accepted turns by event id. `places` are the (stream id, seq) that answers named: one each, if all is well."""

    accepted: dict[str, Facts] = field(default_factory=dict)
    places: defaultdict[str, set[tuple[str, int]]] = field(default_factory=lambda: defaultdict(set))
    statuses: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    # Honest turns that were refused, and forged ones that were not: both are failures of the gateway.
    misjudged: list[str] = field(default_factory=list)

    def answer(self, turns: Iterable[Turn], results: Iterable[dict[str, Any]]) -> None:
        """The gateway's word on turns sent, whether for the first time or again."""
        for turn, result in zip(turns, results, strict=True):
            self.statuses[result["status"]] += 1
            if result["status"] not in ("accepted", "duplicate") or result["event_id"] != turn.event_id:
                self.misjudged.append(f"{turn.event_id} was answered {result}")
                continue
            self.accepted[turn.event_id] = facts_of(turn)
            self.places[turn.event_id].add((result["stream_id"], result["seq"]))

    def refuse(self, turn: Turn, status: str) -> None:
        """The gateway's word on a turn that uses the id of another."""
        self.statuses[status] += 1
        if status != "conflict":
            self.misjudged.append(f"other content for {turn.event_id} was answered {status}")
