"""Reads the newest turns of a session as a conversation: what people said, with what tools did in a line each."""

from collections.abc import Sequence
from dataclasses import replace

from lithify.assembly.prompt.token_counter import ESTIMATOR, PromptCounter
from lithify.memory.prompt.composition import Item, Shortener, shorten_item, spoken_item
from lithify.memory.prompt.excerpt import GAP, Fits, cut_middle
from lithify.memory.prompt.mark import TOOL_ROLE
from lithify.memory.prompt.rendering import TAIL
from lithify.memory.ranking.profile import Profile
from lithify.memory.turn import Turn, sort_chronologically


def read_conversation(turns: Sequence[Turn], profile: Profile, counter: PromptCounter) -> tuple[list[Turn], int]:
    """Returns what people said, with the newest results of tools among it in a line each, and how many must be shown.

    Tools neither count among the mandatory turns nor push them out.
    """
    ordered = sort_chronologically(turns)
    spoken = [place for place, turn in enumerate(ordered) if turn.role != TOOL_ROLE]
    wanted = spoken[-profile.tail_turns :]
    start = wanted[0] if wanted else 0
    tools = [place for place in range(start, len(ordered)) if ordered[place].role == TOOL_ROLE]
    shown = {*spoken, *tools[-profile.tail_turns :]}
    kept = [tool_line(ordered[place], profile.tool_tokens, counter) for place in sorted(shown)]
    return kept, sum(place >= start for place in shown)


def tool_line(turn: Turn, most: int, counter: PromptCounter) -> Turn:
    """Tells a tool's call or result in one short line; everything else stays as it was said."""
    if turn.role != TOOL_ROLE:
        return turn
    line = " ".join(turn.text.split())

    def fits(text: str) -> bool:
        return counter.count(text) <= most

    return replace(turn, text=line if fits(line) else cut_middle(line, "", fits) or GAP)


def turn_item(turn: Turn, counter: PromptCounter = ESTIMATOR) -> Item:
    return spoken_item(turn, counter.count)


def shorten_turns(query: str, counter: PromptCounter) -> Shortener:
    """Cuts turns of the tail in their middle; what the question asks for stays, where it can."""

    def cut(text: str, fits: Fits) -> str | None:
        return cut_middle(text, query, fits)

    return lambda item, room: shorten_item(item, TAIL, cut, room, counter.count)
