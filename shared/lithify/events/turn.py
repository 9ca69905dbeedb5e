"""A conversation turn as an agent host sends it: checked once at the edge, then trusted."""

from enum import StrEnum
from typing import Annotated, Any, Self

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

MAX_TEXT_CHARS = 262_144
MAX_BATCH = 512
MAX_META_BYTES = 8_192
MAX_META_DEPTH = 6
# 9999-12-31 in milliseconds: later values are seconds, microseconds or noise taken for milliseconds.
MAX_TS_MS = 253_402_300_799_000

TEXT_PARTS = ("text", "input_text", "output_text")


class Role(StrEnum):
    """The speaker of a turn. Tool turns are accepted and receipted, but never become memory (spec 01 §5)."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


def _check_printable(value: str) -> str:
    if not value.isprintable():
        raise ValueError("must not contain control characters or line breaks")
    return value


def _check_meta(value: dict[str, Any]) -> dict[str, Any]:
    if depth_of(value) > MAX_META_DEPTH:
        raise ValueError(f"must not be nested deeper than {MAX_META_DEPTH} levels")
    if len(orjson.dumps(value)) > MAX_META_BYTES:
        raise ValueError(f"must not exceed {MAX_META_BYTES} bytes as JSON")
    return value


def _check_encodable(value: str) -> str:
    # JSON may smuggle lone surrogates through \ud800 escapes; no UTF-8 store can keep them.
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError("must be valid Unicode text without lone surrogates") from error
    return value


def depth_of(value: object) -> int:
    """Returns the nesting depth of a JSON value; a scalar has depth 0.

    Iterative: hostile input must not exhaust the stack.
    """
    deepest = 0
    pending = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        deepest = max(deepest, depth)
        children = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        pending.extend((child, depth + 1) for child in children)
    return deepest


Identifier = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=256),
    AfterValidator(_check_encodable),
    AfterValidator(_check_printable),
]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS), AfterValidator(_check_encodable)]


class TextPart(BaseModel):
    """One piece of a multi-part message; only textual pieces become memory."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str = Field(max_length=64)
    text: Text = ""


class TurnInput(BaseModel):
    """One turn of a conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    event_id: Identifier = Field(description="The host's own id of this turn, unique within the tenant.")
    user: Identifier = Field(description="Whose durable memory this belongs to.")
    session: Identifier = Field(description="The conversation.")
    role: Role
    text: Text | None = Field(None, description="The words said. Give text or parts.")
    parts: tuple[TextPart, ...] | None = Field(None, max_length=256, description="The message in pieces.")
    agent: Identifier | None = Field(None, description="The producing host.")
    ts: int | None = Field(None, ge=0, le=MAX_TS_MS, description="Event time in ms; gateway's clock if absent.")
    seq: int | None = Field(None, ge=0, lt=2**53, description="Position in the session; counted if absent.")
    bundle_id: Identifier | None = Field(None, description="Turns with one bundle id stay together.")
    reply_to: Identifier | None = Field(None, description="event_id of the turn this one answers.")
    source_kind: Identifier | None = Field(None, description="Where the text came from, e.g. chat or import.")
    source_ref: Identifier | None = Field(None, description="The exact origin, for purging by source.")
    meta: Annotated[dict[str, Any], AfterValidator(_check_meta)] = Field(default_factory=dict)
    traceparent: str | None = Field(None, max_length=64, description="W3C trace context.")

    @model_validator(mode="after")
    def _check_text(self) -> Self:
        if self.text is not None and self.parts is not None:
            raise ValueError("give either text or parts, not both")
        if self.text is None and self.parts is None:
            raise ValueError("text is required (or parts)")
        if not self.joined_text():
            raise ValueError("text must not be empty")
        return self

    def joined_text(self) -> str:
        """Returns the words: the text, or its textual parts joined by line breaks, trimmed."""
        if self.text is not None:
            return self.text.strip()
        return "\n".join(part.text for part in self.parts or () if part.type in TEXT_PARTS).strip()


class TurnBatch(BaseModel):
    """Up to 512 turns, each checked by itself."""

    model_config = ConfigDict(extra="forbid")

    # Items are checked one by one, so that one bad turn does not refuse its neighbours.
    turns: list[Any] = Field(min_length=1, max_length=MAX_BATCH)
