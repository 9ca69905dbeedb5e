"""Reads the newest turns of a session as a conversation: what people said, with what tools did in a line each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lithify.assembly.prompt.token_counter import ESTIMATOR, PromptCounter
from lithify.memory.prompt.composition import Item, Shortener, shorten_item, spoken_item
from lithify.memory.prompt.excerpt import GAP, Fits, cut_middle
from lithify.memory.prompt.mark import TOOL_ROLE
from lithify.memory.prompt.rendering import TAIL
from lithify.memory.ranking.profile import Profile
from lithify.memory.turn import Turn, sort_chronologically


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What people said, with the newest results of tools among it in a line each."""

    turns: tuple[Turn, ...]
    count: int  # of the newest ones, which must be shown
    shortened: frozenset[str]  # ids of the results that are told in part
    left_out: int  # results between the mandatory turns that have no line

    @property
    def mandatory(self) -> tuple[Turn, ...]:
        return self.turns[len(self.turns) - self.count :]

    def item(self, turn: Turn, counter: PromptCounter = ESTIMATOR) -> Item:
        item = spoken_item(turn, counter.count)
        return replace(item, is_excerpt=True) if turn.id in self.shortened else item


def read_conversation(turns: Sequence[Turn], profile: Profile, counter: PromptCounter) -> Dialogue:
    """Reads turns as a conversation: tools neither count among the mandatory turns nor push them out."""
    ordered = sort_chronologically(turns)
    spoken = [place for place, turn in enumerate(ordered) if turn.role != TOOL_ROLE]
    wanted = spoken[-profile.tail_turns :]
    start = wanted[0] if wanted else 0
    tools = [place for place in range(start, len(ordered)) if ordered[place].role == TOOL_ROLE]
    told = tools[-profile.tail_turns :]
    kept = {place: ordered[place] for place in spoken}
    kept |= {place: tell_tool(ordered[place], profile.tool_tokens, counter) for place in told}
    return Dialogue(
        turns=tuple(kept[place] for place in sorted(kept)),
        count=sum(place >= start for place in kept),
        shortened=frozenset(ordered[place].id for place in told if is_shortened(ordered[place], kept[place])),
        left_out=len(tools) - len(told),
    )


def tell_tool(turn: Turn, most: int, counter: PromptCounter) -> Turn:
    """Tells a tool's call or result in one line of at most so many tokens."""
    line = " ".join(turn.text.split())

    def fits(text: str) -> bool:
        return counter.count(text) <= most

    return replace(turn, text=line if fits(line) else cut_middle(line, "", fits) or GAP)


def is_shortened(turn: Turn, told: Turn) -> bool:
    return " ".join(turn.text.split()) != told.text


def shorten_turns(query: str, counter: PromptCounter) -> Shortener:
    """Cuts turns of the tail in their middle; what the question asks for stays, where it can."""

    def cut(item: Item, fits: Fits) -> str | None:
        return cut_middle(item.text, query, fits)

    return lambda item, room: shorten_item(item, TAIL, cut, room, counter.count)
