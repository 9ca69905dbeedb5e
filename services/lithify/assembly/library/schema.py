"""What is asked and answered about stored memory: single memories, sessions, authored documents."""

from dataclasses import asdict
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator, model_validator

from lithify.assembly.schema import readable_path
from lithify.authored import AuthoredText
from lithify.events import Event
from lithify.events.turn import MAX_TS_MS, Identifier, MemoryName, Role, Text
from lithify.memory.rulebook.document import AuthoredDocument, AuthoredNode, Tier
from lithify.store import Record
from lithify.store.memory_record import MemoryRecord


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
        memory = MemoryRecord.from_payload(record.payload)
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
        memory = MemoryRecord.from_payload(record.payload)
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
        memory = MemoryRecord.from_payload(record.payload)
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
    unreadable: int = Field(0, description="Stored records of the session that cannot be read and are left out.")


class SessionSeen(BaseModel):
    session: str
    turns: int = Field(description="Stored turns that were looked at.")
    first_ts: int
    last_ts: int


class SessionsView(BaseModel):
    user: str
    sessions: list[SessionSeen]
    complete: bool = Field(description="False if the user has more turns than were looked at.")


class MemoryInput(BaseModel):
    """Something to be remembered without waiting for the gate: for one user, or for all of the tenant."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: Text
    scope: Literal["user", "global"] = "user"
    user: Identifier | None = Field(None, description="Whose memory; required in the scope `user`, else left out.")
    event_id: Identifier | None = Field(
        None, description="The turn it is taken from, or the host's own id of it; unset makes one from the text."
    )
    role: Role | None = Field(None, description="Who said it, if somebody did.")
    ts: int | None = Field(None, ge=0, le=MAX_TS_MS, description="Event time in ms; the clock if absent.")
    source_kind: Identifier | None = Field(None, description="Where the text came from, e.g. chat or import.")
    source_ref: Identifier | None = Field(None, description="The exact origin, for purging by source.")
    supersedes: MemoryName | None = Field(
        None, description="Id or path of an older memory of the same user that this one replaces."
    )

    @field_validator("text")
    @classmethod
    def _says_something(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("must not be empty")
        return value.strip()

    @model_validator(mode="after")
    def _belongs_to_somebody(self) -> Self:
        if (self.scope == "user") != (self.user is not None):
            raise ValueError("user: is required in the scope user and must be left out in the scope global")
        return self


class MemoryWritten(BaseModel):
    id: str
    event_id: str
    status: Literal["stored", "duplicate"]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def path(self) -> str:
        return readable_path(self.id)


class MemoryView(BaseModel):
    """One stored record; fields that do not apply to its kind are left out."""

    model_config = ConfigDict(extra="ignore")

    id: str
    path: str
    kind: str
    scope: str
    user: str
    session: str | None = None
    event_id: str | None = None
    role: str | None = None
    ts: int
    seq: int | None = None
    text: str
    active: bool
    agent: str | None = None
    source_kind: str | None = None
    source_ref: str | None = None
    compacted_into: str | None = None
    superseded_by: str | None = Field(None, description="The memory that says the same anew.")
    supersedes: str | None = Field(None, description="The memory it was said to replace.")
    provenance: str | None = None
    gating_score: float | None = None
    mentions: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()
    method: str | None = None
    confidence: float | None = None
    authored_tier: str | None = None
    hop_targets: tuple[str, ...] = ()

    @classmethod
    def of(cls, record_id: str, memory: MemoryRecord) -> Self:
        return cls.model_validate(asdict(memory) | {"id": record_id, "path": readable_path(record_id)})


class DocumentInput(BaseModel):
    """The JSON form of a document; `text/markdown` sends the text as it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(description="The whole document in Markdown.")


class DocumentSummary(BaseModel):
    name: str
    core: bool = Field(description="Whether its rules bind every prompt; configuration decides, never content.")
    origin: str = Field(description="api, or folder for a document that follows a file.")
    hash: str
    bytes: int
    updated_at: int = Field(description="In ms.")

    @classmethod
    def of(cls, document: AuthoredText, *, core: bool) -> Self:
        return cls(
            name=document.name,
            core=core,
            origin=document.origin,
            hash=document.content_hash,
            bytes=len(document.raw),
            updated_at=document.ts,
        )


class DocumentList(BaseModel):
    documents: list[DocumentSummary]


class TierSizes(BaseModel):
    """Counts how many pieces of a document went where, and what its hard rules cost in every prompt."""

    hard: int
    soft: int
    variant: int
    hard_tokens: int

    @classmethod
    def of(cls, parts: AuthoredDocument) -> Self:
        cost = sum(node.token_estimate for node in parts.hard)
        return cls(hard=len(parts.hard), soft=len(parts.soft), variant=len(parts.variant), hard_tokens=cost)


class DocumentWritten(DocumentSummary):
    changed: bool = Field(description="False if the same document was there already.")
    nodes: TierSizes


class Node(BaseModel):
    """One piece of a document: a hard rule, a soft rule, or a variant that is searched like other memory."""

    id: str
    kind: str
    tier: str
    position: int = Field(description="Byte offset in the document.")
    tokens: int
    text: str

    @classmethod
    def of(cls, node: AuthoredNode) -> Self:
        return cls(
            id=node.record_id,
            kind=node.kind,
            tier=Tier(node.tier).name.lower(),
            position=node.position,
            tokens=node.token_estimate,
            text=node.text,
        )


class DocumentView(DocumentSummary):
    text: str
    nodes: list[Node]


class DocumentRemoved(BaseModel):
    name: str
    removed: bool = True
