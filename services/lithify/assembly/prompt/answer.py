"""Puts an assembled context into the forms hosts want: blocks as data, and messages with the memory among them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lithify.assembly.prompt.context import Context
from lithify.assembly.schema import AssembleRequest, Block, Entry, Message
from lithify.events.turn import TEXT_PARTS
from lithify.memory.prompt.composition import Item
from lithify.memory.prompt.rendering import AUTHORED, GUIDANCE, RECALLED, TAIL, UNKNOWN_ROLE
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.turn import Turn

# An authored rule is the operator speaking.
RULE_ROLE = "system"


def blocks_of(context: Context) -> list[Block]:
    composition, draft = context.composition, context.draft
    turns = {turn.id: turn for turn in draft.ingredients.turns}
    memories = candidates_of(context)
    sigmas = {item.candidate.id: item.sigma for item in context.projection.order}
    sigmas |= {row.candidate.id: row.score for row in draft.advice}
    named = (
        (AUTHORED.name, [rule_entry(item) for item in composition.fixed.hard + composition.fixed.soft]),
        (TAIL.name, [tail_entry(item, turns[item.id]) for item in composition.fixed.tail]),
        (GUIDANCE.name, recalled_entries(composition.guidance, memories, sigmas)),
        (RECALLED.name, recalled_entries(composition.recalled, memories, sigmas)),
    )
    return [Block(name=name, entries=entries) for name, entries in named if entries]


def candidates_of(context: Context) -> dict[str, Candidate]:
    projected = (item.candidate for item in context.projection.order)
    advice = (row.candidate for row in context.draft.advice)
    return {candidate.id: candidate for candidate in (*projected, *advice)}


def rule_entry(item: Item) -> Entry:
    return Entry(id=item.id, event_id=None, text=item.body, role=RULE_ROLE, source="authored", tokens=item.cost)


def tail_entry(item: Item, turn: Turn) -> Entry:
    return Entry(id=item.id, event_id=turn.id, text=turn.text, role=turn.role, source="session", tokens=item.cost)


def recalled_entries(
    items: Iterable[Item], memories: Mapping[str, Candidate], sigmas: Mapping[str, float]
) -> list[Entry]:
    return [recalled_entry(item, memories[item.id], sigmas[item.id]) for item in items]


def recalled_entry(item: Item, candidate: Candidate, score: float) -> Entry:
    return Entry(
        id=item.id,
        event_id=candidate.source_turn,
        text=candidate.text,
        role=candidate.role or UNKNOWN_ROLE,
        source="recalled",
        tokens=item.cost,
        score=score,
    )


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
