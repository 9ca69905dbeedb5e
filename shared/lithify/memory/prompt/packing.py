"""Fills a token budget from a ranked list."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def pack_prefix(items: Iterable[Item], budget: float, cost: Callable[[Item], float]) -> list[Item]:
    """The longest prefix within the budget; rank order is the policy, so nothing is skipped (spec 02 §4)."""
    taken: list[Item] = []
    left = budget
    for item in items:
        left -= cost(item)
        if not left >= 0:
            break
        taken.append(item)
    return taken


def pack_first_fit(items: Iterable[Item], budget: float, cost: Callable[[Item], float]) -> list[Item]:
    """Everything that still fits, in order. Only the recovery overlay may skip items (spec 09 §8)."""
    taken: list[Item] = []
    left = budget
    for item in items:
        price = cost(item)
        if price <= left:
            taken.append(item)
            left -= price
    return taken
