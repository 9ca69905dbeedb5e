"""An accepted turn on its way through the pipeline, and its envelope on the stream (version 1)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

import orjson

from lithify.errors import Invalid
from lithify.events.turn import TurnInput
from lithify.telemetry.trace_context import read_traceparent

ENVELOPE_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Event:
    """One accepted turn. `seq` is its position in the session, counted on acceptance if the host gave none."""

    event_id: str
    tenant: str
    user: str
    session: str
    role: str
    text: str
    ts: int
    seq: int | None = None
    agent: str | None = None
    bundle_id: str | None = None
    reply_to: str | None = None
    supersedes: str | None = None  # id of the memory it replaces
    source_kind: str | None = None
    source_ref: str | None = None
    meta: Mapping[str, Any] | None = None
    traceparent: str | None = None
    # When it was accepted, in ms of its id on the stream, which forgetting goes by; it is not part of what was said.
    accepted: int | None = field(default=None, compare=False)


# The `source_kind` of turns by which a host only shows that it is alive.
HEARTBEAT: Final = "heartbeat"


def is_heartbeat(event: Event) -> bool:
    """Says whether the event is ignored: it gets a receipt and a position, but is neither shown nor remembered."""
    return event.source_kind is not None and event.source_kind.casefold() == HEARTBEAT


FIELDS: Final = dict.fromkeys(item.name for item in fields(Event))  # ordered, and quick to ask
_SLOTS: Final = tuple((getattr(Event, name).__set__, name) for name in FIELDS)
REQUIRED_TEXT: Final = ("event_id", "tenant", "user", "session", "role", "text")


# How a host wraps its words; what they say is what counts.
WRAPPINGS: Final = {"traceparent", "parts", "content", "tool_calls", "tool_call_id", "name"}


def event_from_turn(turn: TurnInput, tenant: str, now_ms: int) -> Event:
    said = turn.as_utterance()
    return Event(
        event_id=turn.event_id,
        tenant=tenant,
        user=turn.user,
        session=turn.session,
        role=said.role,
        text=said.text,
        ts=now_ms if turn.ts is None else turn.ts,
        seq=turn.seq,
        agent=turn.agent,
        bundle_id=turn.bundle_id,
        reply_to=turn.reply_to,
        supersedes=turn.supersedes,
        source_kind=turn.source_kind,
        source_ref=turn.source_ref,
        meta=turn.meta or None,
        traceparent=read_traceparent(turn.traceparent),
    )


def turn_digest(turn: TurnInput) -> str:
    """Returns the fingerprint of what the host sent; a retry without `ts` must not differ because the clock moved on.

    The trace context is left out: a retry may carry a new span.
    """
    body = turn.model_dump(mode="json", exclude=WRAPPINGS, exclude_none=True)
    if turn.parts is not None:
        body["parts"] = [_describe_part(part) for part in turn.parts]
    said = turn.as_utterance()
    if turn.content is not None or said.role != turn.role:
        body["said"] = list(said)
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def _describe_part(part: Any) -> Any:
    """Returns what a fingerprint sees of a part: cache marks and the like may differ between two tries."""
    return {"type": part.get("type"), "text": part.get("text", "")} if isinstance(part, Mapping) else part


def encode_event(event: Event) -> bytes:
    # Not asdict: it copies meta deeply and costs ten times the encoding.
    envelope = {"v": ENVELOPE_VERSION}
    for name in FIELDS:
        if (value := getattr(event, name)) is not None:
            envelope[name] = value
    return orjson.dumps(envelope)


def decode_event(data: bytes, seq: int | None = None, accepted: int | None = None) -> Event:
    """Raises Invalid for anything that is not a version 1 envelope; such a message can never succeed.

    `seq` is the position the accepting script counted; it travels beside the envelope and fills a missing one.
    `accepted` is what the stream itself tells, and stands before what the envelope says.

    Unknown fields are ignored, so that an older worker can read a newer producer of the same version.
    """
    try:
        raw = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"envelope is not JSON: {error}") from error
    version = raw.pop("v", None) if isinstance(raw, dict) else None
    if version != ENVELOPE_VERSION:
        raise Invalid(f"envelope version {version!r} is not {ENVELOPE_VERSION}")
    _check_types(raw)
    raw.setdefault("seq", seq)
    if accepted is not None:
        raw["accepted"] = accepted
    return _event(raw)


def _event(raw: Mapping[str, Any]) -> Event:
    # What the constructor does, without its price for being frozen, which is half of decoding. Every field that is
    # not required is None by default; unknown ones are not asked for.
    event = object.__new__(Event)
    for put, name in _SLOTS:
        put(event, raw.get(name))
    return event


def _check_types(raw: Mapping[str, Any]) -> None:
    for name in REQUIRED_TEXT:
        value = raw.get(name)
        # An exact comparison of types: JSON makes no subclasses, and this runs six times per message.
        if type(value) is not str or not value:
            raise Invalid(f"envelope field {name} must be non-empty text, not {type(value).__name__}")
    if type(raw.get("ts")) is not int:
        raise Invalid(f"envelope field ts must be milliseconds, not {type(raw.get('ts')).__name__}")
