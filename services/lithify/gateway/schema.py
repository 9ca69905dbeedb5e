"""The answers of the gateway."""

from typing import Any, Literal

from pydantic import BaseModel, Field, Json


class FieldError(BaseModel):
    field: str
    message: str


class Accepted(BaseModel):
    """The turn is durable in Redis and in the session's recent tail."""

    event_id: str
    stream_id: str
    status: Literal["accepted", "duplicate"]
    seq: int = Field(description="Position of the turn in its session.")
    searchable: bool | None = Field(None, description="Only with ?wait=searchable: whether recall can find it already.")


class BatchItem(BaseModel):
    """The fate of one turn of a batch; `index` is its place in the request."""

    index: int
    event_id: str | None
    status: Literal["accepted", "duplicate", "conflict", "invalid"]
    stream_id: str | None = None
    seq: int | None = None
    errors: list[FieldError] | None = None


class BatchResult(BaseModel):
    accepted: int
    duplicate: int
    rejected: int
    results: list[BatchItem]


class Receipt(BaseModel):
    """Tells what has happened to an event so far; times in ms. Fields of later stages appear when those stages ran."""

    model_config = {"extra": "allow"}

    event_id: str
    stream_id: str
    seq: int
    accepted_at: int
    embedded_at: int | None = None
    gated_at: int | None = None
    promoted: bool | None = None
    memory_id: str | None = Field(None, description="The durable memory that holds a promoted turn.")
    compacted_into: str | None = None
    ignored: str | None = Field(None, description="Why the event never becomes memory, e.g. its role.")
    error: str | None = None
    host_trace_id: str | None = Field(None, description="The trace its host follows it by, from `traceparent`.")
    gate: Json[dict[str, Any]] | None = Field(None, description="All signals of the gate and its threshold.")
    superseded: str | None = Field(None, description="The memory that the turn replaced because the host said so.")
    supersedes_error: str | None = Field(None, description="Why it did not replace the memory the host named.")
