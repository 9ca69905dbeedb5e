"""A conversation turn as an agent host sends it: checked once at the edge, then trusted."""

from collections.abc import Iterable
from enum import StrEnum
from itertools import islice
from sys import maxsize
from typing import Annotated, Any, Self
from urllib.parse import unquote
from uuid import UUID

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from lithify.events.utterance import ROLES, TOOL, Utterance, join_pieces, read_pieces, read_utterance

MAX_TEXT_CHARS = 262_144
# Three a character, which is what the scripts of all living languages need in UTF-8.
MAX_TEXT_BYTES = 3 * MAX_TEXT_CHARS
MAX_BATCH = 512
MAX_META_BYTES = 8_192
MAX_META_DEPTH = 6
MAX_PARTS = 256
# Each is told in a line of bounded length, so that all of them keep the limit of a text.
MAX_CALLS = 128
# Deeper than any tool's arguments; the JSON writers of the response stop at about 250.
MAX_MESSAGE_DEPTH = 64
# Objects, lists and what is in them; to walk over so many takes some ten milliseconds.
MAX_MESSAGE_VALUES = 65_536
# A turn has two dozen; naming thousands of unknown ones would take longer than everything else.
MAX_FIELDS = 64
# The positions counted behind the highest given one have as many numbers left, all of them exact in a double.
MAX_SEQ = 2**52
# 9999-12-31 in milliseconds: later values are seconds, microseconds or noise taken for milliseconds.
MAX_TS_MS = 253_402_300_799_000


class Role(StrEnum):
    """The speaker of a turn. Tool turns are accepted and receipted, but never become memory (spec 01 §5)."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


def check_printable(value: str) -> str:
    """Holds a name to one line that can be seen. Raises ValueError if it holds a control character."""
    if not value.isprintable():
        raise ValueError("must not contain control characters or line breaks")
    return value


def _check_meta(value: dict[str, Any]) -> dict[str, Any]:
    # Its size first: the writer is quick and stops at 254 levels, the walk over a million values is not.
    try:
        size = len(orjson.dumps(value))
    except orjson.JSONEncodeError as error:
        raise ValueError(f"must be plain JSON, nested no deeper than {MAX_META_DEPTH} levels") from error
    if size > MAX_META_BYTES:
        raise ValueError(f"must not exceed {MAX_META_BYTES} bytes as JSON")
    if depth_of(value) > MAX_META_DEPTH:
        raise ValueError(f"must not be nested deeper than {MAX_META_DEPTH} levels")
    return value


def _count_bytes(value: str) -> int:
    # JSON may smuggle lone surrogates through \ud800 escapes; no UTF-8 store can keep them.
    try:
        return len(value.encode())
    except UnicodeEncodeError as error:
        raise ValueError("must be valid Unicode text without lone surrogates") from error


def _check_encodable(value: str) -> str:
    _count_bytes(value)
    return value


def check_text(value: str) -> str:
    """Holds what is said to the one size law, however it was sent. Raises ValueError if it is longer."""
    if len(value) > MAX_TEXT_CHARS:
        raise ValueError(f"must not say more than {MAX_TEXT_CHARS} characters")
    if _count_bytes(value) > MAX_TEXT_BYTES:
        raise ValueError(f"must not say more than {MAX_TEXT_BYTES} bytes in UTF-8")
    return value


def _check_memory_name(value: str) -> str:
    try:
        UUID(read_memory_id(value))
    except ValueError as error:
        raise ValueError("must be the id or the path of a memory, as search and receipts give it") from error
    return read_memory_id(value)


def read_memory_id(name: str) -> str:
    """Returns the id inside `<collection>::<id>`, both percent-encoded, or the bare id itself."""
    return unquote(name.rpartition("::")[2])


def depth_of(value: object) -> int:
    """Returns the nesting depth of a JSON value; a scalar has depth 0.

    Iterative: hostile input must not exhaust the stack.
    """
    deepest = 0
    pending = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        deepest = max(deepest, depth)
        pending.extend((child, depth + 1) for child in _children(item))
    return deepest


Identifier = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=256),
    AfterValidator(_check_encodable),
    AfterValidator(check_printable),
]
MemoryName = Annotated[str, StringConstraints(max_length=512), AfterValidator(_check_memory_name)]
"""The id of a memory, or its path `memories::<id>`."""

Meta = Annotated[dict[str, Any], AfterValidator(_check_meta)]

Text = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS), AfterValidator(check_text)]


def check_depth(value: Any) -> Any:
    """Refuses what is nested deeper than any message; of everything else nothing is asked."""
    return _check_shape(value, maxsize)


def check_shape(value: Any) -> Any:
    """Refuses what is nested deeper, or holds more values, than any message."""
    return _check_shape(value, MAX_MESSAGE_VALUES)


def _check_shape(value: Any, most: int) -> Any:
    level = [value]
    seen = 0
    for _ in range(MAX_MESSAGE_DEPTH + 1):
        level = list(islice((child for parent in level for child in _children(parent)), min(most - seen + 1, maxsize)))
        seen += len(level)
        if seen > most:
            raise ValueError(f"must not hold more than {most} values")
        if not level:
            return value
    raise ValueError(f"must not be nested deeper than {MAX_MESSAGE_DEPTH} levels")


def _children(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def check_parts(value: list[Any]) -> list[Any]:
    """Holds a message in pieces to the size of one in words."""
    # In the name of the tool everything is told: no role says more.
    check_text(join_pieces(TOOL, read_pieces({"content": check_shape(value)})).text)
    return value


def check_content(value: Any) -> Any:
    """Holds content to what `text` and `parts` are held to. Raises ValueError if it is neither."""
    if value is None:
        return value
    if not isinstance(value, str | list):
        raise ValueError("must be text, a list of parts, or null")
    if isinstance(value, str):
        return check_text(value)
    if len(value) > MAX_PARTS:
        raise ValueError(f"must not have more than {MAX_PARTS} parts")
    return check_parts(value)


def check_fields(body: Any) -> Any:
    """Refuses a flood of fields before each is named as unknown."""
    if isinstance(body, dict) and len(body) > MAX_FIELDS:
        raise ValueError(f"must not have more than {MAX_FIELDS} fields")
    return body


def _translate_role(role: Any) -> Any:
    return ROLES.get(role, role) if isinstance(role, str) else role


Parts = Annotated[list[Any], Field(max_length=MAX_PARTS), AfterValidator(check_parts)]
"""The pieces of a message, as the APIs of models have them; only text, calls and results of tools say something."""

Content = Annotated[
    Any,
    AfterValidator(check_content),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {}, "maxItems": MAX_PARTS}, {"type": "null"}]}
    ),
]

Calls = Annotated[list[dict[str, Any]], Field(max_length=MAX_CALLS), AfterValidator(check_shape)]


class TurnInput(BaseModel):
    """One turn of a conversation, in our words (`text`) or as the message a host has (`content`, `tool_calls`).

    A message of nothing but tool calls or results becomes a turn of the role `tool`: it belongs to the conversation's
    tail and never becomes memory. Calls beside words are left out. A call and its result are best sent as two turns, in
    their order: `content` null beside `tool_calls`, then the role `tool` with the result as `content`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    event_id: Identifier = Field(description="The host's own id of this turn, unique within the tenant.")
    user: Identifier = Field(description="Whose durable memory this belongs to.")
    session: Identifier = Field(description="The conversation.")
    role: Annotated[Role, BeforeValidator(_translate_role)]
    text: Text | None = Field(None, description="The words said. Give text, parts or content.")
    parts: Parts | None = Field(None, description="The message in pieces, of OpenAI's or Anthropic's types.")
    content: Content = Field(None, description="The same as text or parts, under the name in messages.")
    tool_calls: Calls | None = Field(None, description="What is asked of tools; told in a line if there are no words.")
    tool_call_id: str | None = Field(None, max_length=256, description="Taken as a part of messages, and not kept.")
    name: str | None = Field(None, max_length=256, description="Taken as a part of messages, and not kept.")
    agent: Identifier | None = Field(None, description="The producing host.")
    ts: int | None = Field(None, ge=0, le=MAX_TS_MS, description="Event time in ms; gateway's clock if absent.")
    seq: int | None = Field(None, ge=0, lt=MAX_SEQ, description="Position in the session; counted if absent.")
    bundle_id: Identifier | None = Field(None, description="Turns with one bundle id stay together.")
    reply_to: Identifier | None = Field(None, description="event_id of the turn this one answers.")
    supersedes: MemoryName | None = Field(
        None, description="Id or path of an older memory of the same user that this turn replaces; role user only."
    )
    source_kind: Identifier | None = Field(None, description="Where the text came from, e.g. chat or import.")
    source_ref: Identifier | None = Field(None, description="The exact origin, for purging by source.")
    meta: Meta = Field(default_factory=dict)
    traceparent: str | None = Field(None, max_length=64, description="W3C trace context.")

    @model_validator(mode="before")
    @classmethod
    def _check_fields(cls, body: Any) -> Any:
        return check_fields(body)

    @model_validator(mode="after")
    def _check_text(self) -> Self:
        given = [value for value in (self.text, self.parts, self.content) if value is not None]
        if len(given) > 1:
            raise ValueError("give either text or parts or content, not several")
        if not given and not self.tool_calls:
            raise ValueError("text is required (or parts, or content)")
        if not (text := self.as_utterance().text):
            raise ValueError("text must not be empty")
        check_text(text)
        if self.supersedes is not None and self.role is not Role.USER:
            raise ValueError("supersedes: only a turn of the role user replaces a memory")
        return self

    def as_utterance(self) -> Utterance:
        """Returns who says what: the text, or its textual parts joined by line breaks, trimmed."""
        if self.text is not None and not self.tool_calls:
            return Utterance(self.role.value, self.text.strip())
        content = next((value for value in (self.text, self.parts, self.content) if value is not None), None)
        return read_utterance({"role": self.role.value, "content": content, "tool_calls": self.tool_calls})


class TurnBatch(BaseModel):
    """Up to 512 turns, each checked by itself."""

    model_config = ConfigDict(extra="forbid")

    # Items are checked one by one, so that one bad turn does not refuse its neighbours.
    turns: list[Any] = Field(min_length=1, max_length=MAX_BATCH)

    @model_validator(mode="before")
    @classmethod
    def _check_fields(cls, body: Any) -> Any:
        return check_fields(body)
