"""The answers a client gets; fields that a newer service adds are ignored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The turn is durable, or `unsent` with the reason: only from a client that fails soft; send it again later."""

    event_id: str
    status: Literal["accepted", "duplicate", "unsent"]
    stream_id: str | None = None
    seq: int | None = None
    searchable: bool | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FieldError:
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class BatchItem:
    """The fate of one turn of a batch; `index` is its place there."""

    index: int
    event_id: str | None
    status: Literal["accepted", "duplicate", "conflict", "invalid"]
    stream_id: str | None = None
    seq: int | None = None
    errors: tuple[FieldError, ...] | None = None


@dataclass(frozen=True, slots=True)
class BatchResult:
    accepted: int
    duplicate: int
    rejected: int
    results: tuple[BatchItem, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """Tells what has happened to an event so far; times in ms. `host_trace_id` is the trace its host follows it by."""

    event_id: str
    stream_id: str
    seq: int
    accepted_at: int
    embedded_at: int | None = None
    gated_at: int | None = None
    promoted: bool | None = None
    memory_id: str | None = None
    compacted_into: str | None = None
    ignored: str | None = None
    error: str | None = None
    host_trace_id: str | None = None
    gate: JsonObject | None = None
    superseded: str | None = None
    supersedes_error: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    event_id: str | None
    kind: str
    score: float
    components: Mapping[str, float]
    text: str
    role: str | None
    user: str
    session: str | None
    ts: int
    seq: int | None
    excerpt: str | None = None  # of a long text, the piece that answers best


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`degraded` says what could not be consulted; the trace id is missing when nothing answered at all."""

    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    event_id: str | None
    text: str
    role: str
    source: str
    tokens: int
    score: float | None = None
    kind: str = ""  # rule, turn, memory, summary, authored, guidance or document
    session: str | None = None
    ts: int | None = None  # milliseconds
    memory_id: str | None = None  # opens the whole by `read`
    excerpt: bool = False  # whether `text` is a part of what was said
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """The memory part of a prompt. `text` goes into the system prompt as it is; `messages` are the host's own.

    In the form `split` there are `stable`, for the system prompt, and `fresh`, for the end of the prompt, instead.
    """

    text: str = ""
    stable: str = ""
    fresh: str = ""
    blocks: tuple[Block, ...] = ()
    messages: tuple[JsonObject, ...] = ()
    tokens: int = 0
    degraded: tuple[str, ...] = ()
    trace_id: str | None = None
    over_budget: bool = False  # whether hard rules alone exceed the budget


@dataclass(frozen=True, slots=True)
class Record:
    """One stored memory; what does not apply to its kind is None or empty."""

    id: str
    kind: str
    scope: str
    user: str
    ts: int
    text: str
    active: bool
    session: str | None = None
    event_id: str | None = None
    role: str | None = None
    seq: int | None = None
    source_kind: str | None = None
    source_ref: str | None = None
    compacted_into: str | None = None
    gating_score: float | None = None
    mentions: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    id: str
    event_id: str
    status: Literal["stored", "duplicate"]


@dataclass(frozen=True, slots=True)
class RawTurn:
    id: str
    event_id: str
    session: str
    role: str
    ts: int
    text: str
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Expansion:
    """The raw turns a summary stands for, in their order; `missing` are event ids that retention has purged."""

    id: str
    turns: tuple[RawTurn, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ticket:
    """A job that was asked for; not new if the same was waiting or running already."""

    job_id: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class Document:
    """An authored document; `core` ones bind every prompt."""

    name: str
    core: bool
    hash: str
    bytes: int
    updated_at: int
    text: str | None = None
