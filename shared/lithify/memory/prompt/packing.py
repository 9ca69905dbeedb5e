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
