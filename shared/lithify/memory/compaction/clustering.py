"""Cuts old turns into contiguous, near-equal clusters that split no bundle (spec 05 §2)."""

from collections.abc import Sequence
from itertools import pairwise

from lithify.memory.turn import Turn, bundle_start

TARGET_SIZE = 20


def cluster_sizes(n: int, k: int) -> list[int]:
    """Sizes before bundles are respected; a target size that is not positive means the default."""
    return [right - left for left, right in pairwise(_even_bounds(n, k)) if right > left]


def clusters(turns: Sequence[Turn], k: int) -> list[tuple[Turn, ...]]:
    """The turns in order, without gaps or overlap; a boundary inside a bundle moves left to its start."""
    bounds = sorted({bundle_start(turns, bound) for bound in _even_bounds(len(turns), k)})
    return [tuple(turns[left:right]) for left, right in pairwise(bounds)]


def _even_bounds(n: int, k: int) -> list[int]:
    size = k if k > 0 else TARGET_SIZE
    count = _ceil_div(max(n, 1), size)
    # Turn i belongs to cluster floor(i·count/n), so cluster j begins at ceil(j·n/count).
    return [_ceil_div(j * n, count) for j in range(count + 1)]


def _ceil_div(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
