"""Divides the token budget between rules, tail and recall, says when it cannot (spec 08 §5, §6), and fills it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from lithify.memory.bounds import number_or
from lithify.memory.ranking.profile import Profile

TOLERANCE = 1e-9
Item = TypeVar("Item")


class Shortage(StrEnum):
    HARD_OVER_RESERVE = "hard_over_reserve"
    HARD_OVER_BUDGET = "hard_over_budget"


@dataclass(frozen=True, slots=True)
class DegradedReason:
    shortage: Shortage
    needed: float
    limit: float

    def __str__(self) -> str:
        if self.shortage is Shortage.HARD_OVER_RESERVE:
            return f"the hard rules need {self.needed:g} tokens, their reserve is {self.limit:g}"
        return f"the hard rules alone need {self.needed:g} tokens, the budget leaves {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Budgets:
    """It is the arithmetic of one assembly as it appears in its receipt; all numbers are tokens."""

    tau: float  # τ without the overhead of the blocks
    hard: float  # τ_I1
    base: float  # cost of the mandatory tail
    soft_limit: float  # B2
    soft: float  # cost of the admitted soft rules
    soft_count: int
    tail_target: float
    tail_limit: float  # hardcap of the tail selector
    guidance_share: float
    reasons: tuple[DegradedReason, ...]

    @property
    def is_degraded(self) -> bool:
        return bool(self.reasons)

    def retrieval(self, tail_cost: float) -> float:
        """Returns τ_V: what is left for guidance and recall; nothing in degraded mode."""
        return 0.0 if self.is_degraded else max(0.0, self.tau - self.hard - self.soft - tail_cost)

    def guidance(self, tail_cost: float) -> float:
        return min(self.guidance_share, self.retrieval(tail_cost))


def memory_budget(token_budget: float, profile: Profile) -> float:
    """Returns τ: the host's tokens that memory may use."""
    return max(0.0, number_or(token_budget, 0.0)) * profile.budget_fraction


def degraded_reasons(tau: float, hard_cost: float, hard_fraction: float | None) -> tuple[DegradedReason, ...]:
    """Says why rules and mandatory tail cannot be served as promised; empty when they can."""
    limits = [(Shortage.HARD_OVER_BUDGET, hard_cost, tau)]
    if hard_fraction is not None:
        limits.insert(0, (Shortage.HARD_OVER_RESERVE, hard_cost, hard_fraction * tau))
    return tuple(DegradedReason(*limit) for limit in limits if limit[1] > limit[2] + TOLERANCE)


def plan_budgets(
    tau: float, overhead: float, hard_cost: float, base_cost: float, soft_costs: Sequence[float], profile: Profile
) -> Budgets:
    """Decides everything before the tail may grow: soft rules come before its extension (spec 07 §2).

    `tau` is the whole memory budget; the overhead of the blocks is taken off before anything else.
    """
    usable = max(0.0, number_or(tau, 0.0) - overhead)
    reasons = degraded_reasons(usable, hard_cost, profile.hard_fraction)
    soft_limit = max(0.0, min(profile.soft_fraction * usable, usable - hard_cost - base_cost))
    admitted = pack_prefix(soft_costs, 0.0 if reasons else soft_limit, float)
    soft = sum(admitted)
    return Budgets(
        tau=usable,
        hard=hard_cost,
        base=base_cost,
        soft_limit=soft_limit,
        soft=soft,
        soft_count=len(admitted),
        tail_target=_tail_target(usable, profile),
        tail_limit=base_cost if reasons else usable - hard_cost - soft,
        guidance_share=profile.guidance_fraction * usable,
        reasons=reasons,
    )


def _tail_target(tau: float, profile: Profile) -> float:
    """Returns β·τ where β is configured, else a fixed number of tokens (X37)."""
    return profile.tail_tokens if profile.tail_fraction is None else profile.tail_fraction * tau


def pack_prefix(items: Iterable[Item], budget: float, cost: Callable[[Item], float]) -> list[Item]:
    """Takes the longest prefix within the budget; rank order is the policy, so nothing is skipped (spec 02 §4)."""
    taken: list[Item] = []
    left = budget
    for item in items:
        left -= cost(item)
        if not left >= 0:
            break
        taken.append(item)
    return taken


def share_room(costs: Sequence[float], room: float) -> float:
    """Returns the most that each of several things may cost so that all of them fit: the small ones stay whole."""
    left = room
    for place, cost in enumerate(ordered := sorted(costs)):
        fair = left / (len(ordered) - place)
        if cost > fair:
            return fair
        left -= cost
    return room
