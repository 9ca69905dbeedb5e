"""Chooses what is injected: first rules and tail, then, after retrieval, guidance and recall (spec 08 §5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter

from lithify.memory.prompt.budget import Budgets, pack_prefix, plan_budgets
from lithify.memory.prompt.mark import mark_spoken, spoken_role
from lithify.memory.prompt.quotation import indent_lines, quote_text
from lithify.memory.prompt.rendering import (
    AUTHORED,
    FRAMES,
    TAIL,
    Block,
    Frames,
    Line,
    RenderedBlock,
    TokenCounter,
    block_overhead,
    line_cost,
    render_blocks,
)
from lithify.memory.ranking.profile import Profile
from lithify.memory.tokens import estimate_lines
from lithify.memory.turn import Turn


@dataclass(frozen=True, slots=True)
class Item:
    """Something that may be injected: its line exactly as the model would see it, and its price."""

    id: str
    line: Line
    cost: int
    text: str = ""  # the words that the line shows, as they were stored
    source_turn: str | None = None


def rule_item(record_id: str, text: str, count: TokenCounter = estimate_lines) -> Item:
    """Makes an item of an authored rule: the operator's own words, injected as they are but for its line breaks."""
    line = Line("", indent_lines(text))
    return Item(record_id, line, line_cost(AUTHORED, line, count), text)


def entry_item(
    record_id: str,
    text: str,
    mark: str,
    block: Block,
    source_turn: str | None = None,
    count: TokenCounter = estimate_lines,
) -> Item:
    """Makes an item of anything that is not an authored rule: quoted, with its date and its speaker."""
    line = Line(mark, quote_text(text))
    return Item(record_id, line, line_cost(block, line, count), text, source_turn)


def spoken_item(turn: Turn, count: TokenCounter = estimate_lines) -> Item:
    """Makes an item of a turn of the tail; its price is the one that assembly and compaction share (X38)."""
    return entry_item(turn.id, turn.text, mark_spoken(spoken_role(turn.role), turn.ts), TAIL, count=count)


class Limit(StrEnum):
    """It names the budget that kept an item out."""

    DEGRADED = "degraded"
    SOFT = "soft"
    GUIDANCE = "guidance"
    RETRIEVAL = "retrieval"


@dataclass(frozen=True, slots=True)
class Cut:
    id: str
    cost: int
    limit: Limit


@dataclass(frozen=True, slots=True)
class Fixed:
    """It is the part that needs no retrieval."""

    budgets: Budgets
    hard: tuple[Item, ...]
    soft: tuple[Item, ...]
    tail: tuple[Item, ...]
    cut: tuple[Cut, ...]
    frames: Frames = FRAMES

    @property
    def tail_cost(self) -> int:
        return total_cost(self.tail)


@dataclass(frozen=True, slots=True)
class Composition:
    """It holds what is injected, in full, and what a budget kept out."""

    fixed: Fixed
    guidance: tuple[Item, ...]
    recalled: tuple[Item, ...]
    cut: tuple[Cut, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        return self.fixed.hard + self.fixed.soft + self.fixed.tail + self.guidance + self.recalled

    @property
    def used_ids(self) -> tuple[str, ...]:
        """Returns the ids whose access count grows by one: recalled memory and guidance, never rules or tail."""
        return tuple(dict.fromkeys(item.id for item in self.guidance + self.recalled))

    def blocks(self) -> tuple[RenderedBlock, ...]:
        return render_blocks(
            self.fixed.frames,
            authored=_lines(self.fixed.hard + self.fixed.soft),
            tail=_lines(self.fixed.tail),
            guidance=_lines(self.guidance),
            recalled=_lines(self.recalled),
            degraded=[str(reason) for reason in self.fixed.budgets.reasons],
        )

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks())


def total_cost(items: Sequence[Item]) -> int:
    return sum(item.cost for item in items)


def compose_fixed(
    tau: float,
    hard: Sequence[Item],
    soft: Sequence[Item],
    base: Sequence[Item],
    select_tail: Callable[[float, float], Sequence[Item]],
    profile: Profile,
    count: TokenCounter = estimate_lines,
    frames: Frames = FRAMES,
) -> Fixed:
    """Takes hard rules and mandatory tail in full, the prefix of soft rules, then the tail as far as it may grow.

    `select_tail(target, hardcap)` returns the recent tail, which ends in `base`; it is not asked in degraded mode.
    """
    costs = [item.cost for item in soft]
    budgets = plan_budgets(
        tau,
        overhead=block_overhead(count, frames),
        hard_cost=total_cost(hard),
        base_cost=total_cost(base),
        soft_costs=costs,
        profile=profile,
    )
    tail = base if budgets.is_degraded else select_tail(budgets.tail_target, budgets.tail_limit)
    admitted, refused = soft[: budgets.soft_count], soft[budgets.soft_count :]
    limit = Limit.DEGRADED if budgets.is_degraded else Limit.SOFT
    return Fixed(
        budgets=budgets,
        hard=tuple(hard),
        soft=tuple(admitted),
        tail=tuple(tail),
        cut=_cuts(refused, limit),
        frames=frames,
    )


def fill_composition(fixed: Fixed, guidance: Sequence[Item], recalled: Sequence[Item]) -> Composition:
    """Packs guidance under its share, then recall under all that is left, each as a prefix of its ranking (X58)."""
    room = fixed.budgets.retrieval(fixed.tail_cost)
    advice = pack_prefix(guidance, fixed.budgets.guidance(fixed.tail_cost), attrgetter("cost"))
    memories = pack_prefix(recalled, room - total_cost(advice), attrgetter("cost"))
    degraded = fixed.budgets.is_degraded
    cut = (
        *fixed.cut,
        *_cuts(guidance[len(advice) :], Limit.DEGRADED if degraded else Limit.GUIDANCE),
        *_cuts(recalled[len(memories) :], Limit.DEGRADED if degraded else Limit.RETRIEVAL),
    )
    return Composition(fixed, tuple(advice), tuple(memories), cut)


def _lines(items: Sequence[Item]) -> list[Line]:
    return [item.line for item in items]


def _cuts(items: Sequence[Item], limit: Limit) -> tuple[Cut, ...]:
    return tuple(Cut(item.id, item.cost, limit) for item in items)
