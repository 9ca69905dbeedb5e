"""Cuts a run of items into batches, by their number or by what they weigh."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from sys import maxsize
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yields the items in their order, `size` at a time; only the last batch may be shorter."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def batched_by_weight(
    items: Iterable[T], weigh: Callable[[T], int], max_weight: int, size: int = maxsize
) -> Iterator[list[T]]:
    """Yields the items in their order, as many at a time as weigh at most `max_weight`, and never more than `size`.

    An item that is heavier than the limit stands alone.
    """
    batch: list[T] = []
    total = 0
    for item in items:
        weight = weigh(item)
        if batch and (len(batch) == size or total + weight > max_weight):
            yield batch
            batch = []
            total = 0
        batch.append(item)
        total += weight
    if batch:
        yield batch
