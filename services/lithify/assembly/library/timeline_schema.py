"""What is answered about a session: its turns with their state, its summaries, its durable memories."""

from typing import Self

from pydantic import BaseModel, Field

from lithify.events import Event
from lithify.store import Record
from lithify.store.memory import Memory


class TimelineTurn(BaseModel):
    """Times in ms. `searchable` is false from acceptance until the turn is embedded and stored."""

    event_id: str
    id: str | None = Field(description="Of the stored record; null until there is one.")
    role: str
    text: str
    ts: int
    seq: int | None
    in_tail: bool = Field(description="Among the newest raw turns that every prompt of the session may quote.")
    searchable: bool
    active: bool = Field(description="False once a summary stands for it.")
    compacted_into: str | None = Field(description="The summary that stands for it.")

    @classmethod
    def of_event(cls, event: Event) -> Self:
        return cls(
            event_id=event.event_id,
            id=None,
            role=event.role,
            text=event.text,
            ts=event.ts,
            seq=event.seq,
            in_tail=True,
            searchable=False,
            active=True,
            compacted_into=None,
        )

    @classmethod
    def of_record(cls, record: Record) -> Self:
        memory = Memory.from_payload(record.payload)
        return cls(
            event_id=memory.event_id or record.id,
            id=record.id,
            role=memory.role or "",
            text=memory.text,
            ts=memory.ts,
            seq=memory.seq,
            in_tail=False,
            searchable=True,
            active=memory.active,
            compacted_into=memory.compacted_into,
        )


class SummaryView(BaseModel):
    id: str
    text: str
    ts: int
    active: bool
    covers: list[str] = Field(description="Event ids of the turns it stands for, in their order.")
    method: str | None
    confidence: float | None

    @classmethod
    def of(cls, record: Record) -> Self:
        memory = Memory.from_payload(record.payload)
        return cls(
            id=record.id,
            text=memory.text,
            ts=memory.ts,
            active=memory.active,
            covers=list(memory.source_ids),
            method=memory.method,
            confidence=memory.confidence,
        )


class TimelineMemory(BaseModel):
    """A turn of the session that the gate made durable."""

    id: str
    event_id: str | None
    text: str
    ts: int
    gating_score: float | None
    mentions: list[str] = Field(description="Event ids of later turns that said the same.")

    @classmethod
    def of(cls, record: Record) -> Self:
        memory = Memory.from_payload(record.payload)
        return cls(
            id=record.id,
            event_id=memory.event_id,
            text=memory.text,
            ts=memory.ts,
            gating_score=memory.gating_score,
            mentions=list(memory.mentions),
        )


class TimelineView(BaseModel):
    user: str
    session: str
    turns: list[TimelineTurn] = Field(description="The newest ones, in the order of speaking.")
    summaries: list[SummaryView]
    memories: list[TimelineMemory]


class SessionSeen(BaseModel):
    session: str
    turns: int = Field(description="Stored turns that were looked at.")
    first_ts: int
    last_ts: int


class SessionsView(BaseModel):
    user: str
    sessions: list[SessionSeen]
    complete: bool = Field(description="False if the user has more turns than were looked at.")
