"""Groups texts for the model: similar lengths together, none larger than the budget."""

from collections.abc import Sequence

Batch = list[int]
"""Positions of the texts that go through the model together."""


def plan_batches(lengths: Sequence[int], budget: int) -> list[Batch]:
    """Batches of rows × longest row ≤ budget, padding included, shortest first; a longer row goes alone."""
    batches: list[Batch] = []
    for position in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        # Sorted, so this row is the longest of the batch it joins.
        if not batches or (len(batches[-1]) + 1) * lengths[position] > budget:
            batches.append([])
        batches[-1].append(position)
    return batches
