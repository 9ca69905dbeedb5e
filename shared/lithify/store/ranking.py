"""The order of hits, the same whatever engine found them."""

from collections.abc import Iterable

from lithify.store.records import Hit


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """Equal scores by id: the engines leave their order open, and answers must be repeatable."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))
