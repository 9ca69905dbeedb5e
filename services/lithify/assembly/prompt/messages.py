"""Reads a host's messages, puts the memory part among them once, and leaves every one of them as it came."""

from collections.abc import Sequence
from typing import Any

from lithify.assembly.schema import AssembleRequest, Message
from lithify.events.turn import TEXT_PARTS

SYSTEM = "system"


def as_sent(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [message.model_dump(exclude_unset=True) for message in messages]


def with_memory(messages: Sequence[Message], text: str) -> list[dict[str, Any]]:
    """One system message behind the host's own leading ones, which keep the first word."""
    sent = as_sent(messages)
    if not text:
        return sent
    leading = next((place for place, message in enumerate(messages) if message.role != SYSTEM), len(sent))
    return [*sent[:leading], {"role": SYSTEM, "content": text}, *sent[leading:]]


def asked(request: AssembleRequest) -> str:
    """What the prompt is about: the query, else the last message's words."""
    if request.query is not None:
        return request.query
    return words_of(request.messages[-1].content) if request.messages else ""


def shown_turns(request: AssembleRequest) -> frozenset[str]:
    """Turns the host shows itself."""
    return frozenset(message.id for message in request.messages if message.id)


def words_of(content: str | list[Any]) -> str:
    if isinstance(content, str):
        return content.strip()
    parts = [part for part in content if isinstance(part, dict) and part.get("type") in TEXT_PARTS]
    return "\n".join(text for part in parts if isinstance(text := part.get("text"), str)).strip()
