"""What the driver knows by itself: every turn it sent, what it was told about it, and what it asked to forget."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from lithify.events import Role
from lithify.streams.progress import StreamId
from tests.chaos.forgetting import Target

TENANTS: Final = ("acme", "zeta")
"""Both use the same event ids, sessions, users and sources."""

Name: TypeAlias = tuple[str, str]
"""Tenant and event id."""

MARK: Final = re.compile(rf"\b({'|'.join(TENANTS)}):(\d+-\d+-\d+)-(\d+)\b")


@dataclass(frozen=True, slots=True)
class Mark:
    """Stands in every text: whose it is, which turn, and in which of its lives it was said. Life 0 is a forgery."""

    tenant: str
    turn: str
    life: int

    def __str__(self) -> str:
        return f"{self.tenant}:{self.turn}-{self.life}"


def find_marks(text: str) -> frozenset[Mark]:
    """Returns the marks of all turns that a text was made from; pieces of long turns may have lost theirs."""
    return frozenset(Mark(tenant, turn, int(life)) for tenant, turn, life in MARK.findall(text))


@dataclass(frozen=True, slots=True)
class Turn:
    tenant: str
    event_id: str
    user: str
    session: str
    role: str
    text: str
    source_ref: str | None = None

    @property
    def name(self) -> Name:
        return self.tenant, self.event_id

    def body(self) -> dict[str, str]:
        values = {name: getattr(self, name) for name in self.__slots__ if name != "tenant"}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Facts:
    """What must come out of the store as it went in."""

    tenant: str
    user: str
    session: str
    role: str
    text_hash: str
    source_ref: str | None = None

    @property
    def becomes_memory(self) -> bool:
        return self.role != Role.TOOL

    @property
    def conversation(self) -> tuple[str, str, str]:
        return self.tenant, self.user, self.session


def facts_of(turn: Turn) -> Facts:
    return Facts(turn.tenant, turn.user, turn.session, turn.role, hash_of(turn.text), turn.source_ref)


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Acceptance:
    """One life of an event: where it stands in the stream, and between which moments of the driver it got there."""

    name: Name
    facts: Facts
    marks: frozenset[Mark]
    stream_id: StreamId
    seq: int
    sent_at: float
    told_at: float


@dataclass(frozen=True, slots=True)
class Forgetting:
    """A forgetting that was asked for and answered with the id of its job."""

    target: Target
    job_id: str
    sent_at: float
    told_at: float


@dataclass(slots=True)
class Ledger:
    """Acceptances by event and stream id: one each, unless the event was forgotten and sent again.

    `uncertain` are events of which an attempt to send was left without an answer: it may have been accepted unseen.
    """

    lives: defaultdict[Name, dict[StreamId, Acceptance]] = field(default_factory=lambda: defaultdict(dict))
    turns: dict[Name, Turn] = field(default_factory=dict)
    forgettings: list[Forgetting] = field(default_factory=list)
    uncertain: set[Name] = field(default_factory=set)
    # Events that a connection is still sending, again or forged, and events that were sent again after a forgetting.
    under_way: set[Name] = field(default_factory=set)
    resent: set[Name] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    # Honest turns that were refused, and forged ones that were not: both are failures of the gateway.
    misjudged: list[str] = field(default_factory=list)
    # What a tenant was answered with that belongs to another, and what came back after a verified forgetting.
    crossed_answers: list[str] = field(default_factory=list)
    recalled_answers: list[str] = field(default_factory=list)
    questions: int = 0

    @property
    def acceptances(self) -> list[Acceptance]:
        return [acceptance for lives in self.lives.values() for acceptance in lives.values()]

    def answer(
        self, turns: Iterable[Turn], results: Iterable[dict[str, Any]], sent_at: float = 0.0, told_at: float = 0.0
    ) -> None:
        """Notes the gateway's word on turns sent, whether for the first time or again."""
        for turn, result in zip(turns, results, strict=True):
            self.statuses[result["status"]] += 1
            if result["status"] not in ("accepted", "duplicate") or result["event_id"] != turn.event_id:
                self.misjudged.append(f"{turn.name} was answered {result}")
                continue
            stream_id = StreamId.parse(result["stream_id"])
            known = self.lives[turn.name].get(stream_id)
            if known is None:
                self.turns[turn.name] = turn
                facts, marks = facts_of(turn), find_marks(turn.text)
                accepted = Acceptance(turn.name, facts, marks, stream_id, result["seq"], sent_at, told_at)
                self.lives[turn.name][stream_id] = accepted
            elif known.seq != result["seq"]:
                self.misjudged.append(f"{turn.name} was answered {result}, but stands at {known.seq}")

    def refuse(self, turn: Turn, result: dict[str, Any], sent_at: float = 0.0, told_at: float = 0.0) -> None:
        """Notes the gateway's word on a turn that uses the id of another.

        Accepting it is right only if the other was forgotten in between, which the verdict sees by its second place.
        """
        match result["status"]:
            case "conflict":
                self.statuses["conflict"] += 1
            case "accepted":
                self.answer([turn], [result], sent_at, told_at)
            case status:
                self.misjudged.append(f"other content for {turn.name} was answered {status}")
