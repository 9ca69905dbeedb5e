"""Single memories over HTTP: one as it is stored, and one to be written explicitly."""

from dataclasses import asdict
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator, model_validator

from lithify.assembly.schema import readable_path
from lithify.events.turn import MAX_TS_MS, Identifier, Role, Text
from lithify.store.memory import Memory


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
    provenance: str | None = None
    gating_score: float | None = None
    mentions: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()
    method: str | None = None
    confidence: float | None = None
    authored_tier: str | None = None
    hop_targets: tuple[str, ...] = ()

    @classmethod
    def of(cls, record_id: str, memory: Memory) -> Self:
        return cls.model_validate(asdict(memory) | {"id": record_id, "path": readable_path(record_id)})
