"""Cuts old turns into clusters: contiguous, near-equal, splitting no bundle (spec 05 §2), and each about something.

A cluster whose turns have nothing in common is cut up further, or left raw.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lithify.memory.compaction.cluster_geometry import Matrix, Vectors, as_matrix, unit_rows
from lithify.memory.turn import Turn, bundle_start
from lithify.memory.vectors.background import relatedness

TARGET_SIZE = 20
MIN_TURNS = 2  # one turn is its own best summary

# Twenty neighbouring turns of ordinary chat score above it in 97 of 100 cases with MiniLM, and in all with nomic
# (docs/compaction.md); texts that have nothing to do with each other score 0 by definition.
RELATED = 0.15


@dataclass(frozen=True, slots=True)
class Cluster:
    """Neighbouring turns that one summary will cover; the protected ones live on as shards and are not melted into it.

    Turns that are unrelated, and cannot be cut any further, are never merged.
    """

    turns: tuple[Turn, ...]
    protected: tuple[Turn, ...] = ()
    related: bool = True

    @property
    def melting(self) -> tuple[Turn, ...]:
        """The turns whose words go into the summary."""
        return tuple(turn for turn in self.turns if turn not in self.protected)

    @property
    def is_worth_a_summary(self) -> bool:
        """Declines unrelated turns, and single ones: a summary of one saves nothing (X29)."""
        return self.related and len(self.melting) >= MIN_TURNS


@dataclass(frozen=True, slots=True)
class CohesionGuard:
    """Judges vectors of one space by what is above its `background`, the likeness of unrelated texts in it."""

    background: float
    floor: float = RELATED

    def relates(self, vectors: Vectors) -> bool:
        return relatedness(likeness(vectors), self.background) >= self.floor

    def split(self, turns: Sequence[Turn], vectors: Vectors) -> list[Cluster]:
        """Cuts the turns, in order, where the subject changes most until every cluster holds together.

        A bundle is never cut: one whose turns are unrelated comes back as such.
        """
        rows = unit_rows(as_matrix(vectors))
        done: list[Cluster] = []
        waiting = [(0, len(turns))]
        while waiting:
            start, end = waiting.pop()
            related = self.relates(rows[start:end])
            cut = None if related else sharpest_cut(turns[start:end], rows[start:end])
            if cut is None:
                done.append(Cluster(tuple(turns[start:end]), related=related))
            else:
                waiting += [(start + cut, end), (start, start + cut)]
        return done


def cut_evenly(turns: Sequence[Turn], size: int) -> list[tuple[Turn, ...]]:
    """Cuts the turns into near-equal groups of about `size`, in order, without gaps or overlap.

    A boundary inside a bundle moves left to its start. A size that is not positive means the default.
    """
    bounds = sorted({bundle_start(turns, bound) for bound in _even_bounds(len(turns), size)})
    return [tuple(turns[left:right]) for left, right in pairwise(bounds)]


def likeness(vectors: Vectors) -> float:
    """Returns the mean cosine of two different rows; a single row is like itself.

    It is the mean similarity to the centroid without the share that every member has in the centroid itself, which
    would make any two texts look alike.
    """
    rows = unit_rows(as_matrix(vectors))
    n = len(rows)
    if n == 1:
        return 1.0
    total = rows.sum(axis=0)
    return float((total @ total - np.einsum("ij,ij->", rows, rows)) / (n * (n - 1)))


def sharpest_cut(turns: Sequence[Turn], units: Matrix) -> int | None:
    """Finds where two parts have most in common each with their own centroid; None if all is one bundle."""
    cuts = [cut for cut in range(1, len(turns)) if bundle_start(turns, cut) == cut]
    if not cuts:
        return None
    sums = units.cumsum(axis=0)
    left = sums[:-1]
    right = sums[-1] - left
    # The length of a sum of unit vectors is what they have in common with its direction, added up.
    common = np.linalg.norm(left, axis=1) + np.linalg.norm(right, axis=1)
    return max(cuts, key=lambda cut: common[cut - 1])


def _even_bounds(n: int, size: int) -> list[int]:
    count = _ceil_div(max(n, 1), size if size > 0 else TARGET_SIZE)
    # Turn i belongs to cluster floor(i·count/n), so cluster j begins at ceil(j·n/count).
    return [_ceil_div(j * n, count) for j in range(count + 1)]


def _ceil_div(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
