"""Chooses what is injected: first rules and tail, then, after retrieval, guidance and recall (spec 08 §5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter

from lithify.memory.prompt.budget import Budgets, pack_prefix, plan_budgets
from lithify.memory.prompt.rendering import (
    AUTHORED,
    GUIDANCE,
    RECALLED,
    TAIL,
    RenderedBlock,
    Source,
    TokenCounter,
    block_overhead,
    frame_cost,
    line_cost,
    render_blocks,
    render_entry,
)
from lithify.memory.ranking.profile import Profile
from lithify.memory.tokens import estimate_tokens


@dataclass(frozen=True, slots=True)
class Item:
    """It may be injected, and has its body exactly as the model would see it, and its price."""

    id: str
    body: str
    cost: int
    source_turn: str | None = None


def rule_item(record_id: str, text: str, count: TokenCounter = estimate_tokens) -> Item:
    """Makes an item of an authored rule, whose words are the operator's own and are injected as they are."""
    return Item(record_id, text, line_cost(text, count))


def entry_item(
    record_id: str,
    text: str,
    role: str | None,
    source: Source,
    source_turn: str | None = None,
    count: TokenCounter = estimate_tokens,
) -> Item:
    """Makes an item of what is not an authored rule: it is quoted, with its speaker."""
    body = render_entry(text, role, source)
    return Item(record_id, body, line_cost(body, count), source_turn)


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
            authored=_bodies(self.fixed.hard + self.fixed.soft),
            tail=_bodies(self.fixed.tail),
            guidance=_bodies(self.guidance),
            recalled=_bodies(self.recalled),
            degraded=[str(reason) for reason in self.fixed.budgets.reasons],
        )

    def tokens(self, count: TokenCounter = estimate_tokens) -> int:
        """Adds up the prices of all items and of the frames really used, without the notice of a degraded turn."""
        parts = (
            (AUTHORED, self.fixed.hard + self.fixed.soft),
            (TAIL, self.fixed.tail),
            (GUIDANCE, self.guidance),
            (RECALLED, self.recalled),
        )
        return sum(frame_cost(block, count) for block, items in parts if items) + total_cost(self.items)


def total_cost(items: Sequence[Item]) -> int:
    return sum(item.cost for item in items)


def compose_fixed(
    tau: float,
    hard: Sequence[Item],
    soft: Sequence[Item],
    base: Sequence[Item],
    select_tail: Callable[[float, float], Sequence[Item]],
    profile: Profile,
    count: TokenCounter = estimate_tokens,
) -> Fixed:
    """Takes hard rules and mandatory tail in full, the prefix of soft rules, then the tail as far as it may grow.

    `select_tail(target, hardcap)` returns the recent tail, which ends in `base`; it is not asked in degraded mode.
    """
    costs = [item.cost for item in soft]
    budgets = plan_budgets(
        tau,
        overhead=block_overhead(count),
        hard_cost=total_cost(hard),
        base_cost=total_cost(base),
        soft_costs=costs,
        profile=profile,
    )
    tail = base if budgets.is_degraded else select_tail(budgets.tail_target, budgets.tail_limit)
    admitted, refused = soft[: budgets.soft_count], soft[budgets.soft_count :]
    limit = Limit.DEGRADED if budgets.is_degraded else Limit.SOFT
    return Fixed(budgets=budgets, hard=tuple(hard), soft=tuple(admitted), tail=tuple(tail), cut=_cuts(refused, limit))


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


def _bodies(items: Sequence[Item]) -> list[str]:
    return [item.body for item in items]


def _cuts(items: Sequence[Item], limit: Limit) -> tuple[Cut, ...]:
    return tuple(Cut(item.id, item.cost, limit) for item in items)
