"""Keeps the newest turns verbatim, so that continuity depends neither on retrieval nor on summaries (spec 07)."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from lithify.memory.turn import Turn, bundle_start, sort_chronologically

BASE_TURNS = 4
TARGET_TOKENS = 128.0


Cost = Callable[[Turn], float]


@dataclass(frozen=True, slots=True)
class Tail:
    """It is the session cut in two: `older` + `recent` is the whole of it, and `base` is a suffix of `recent`."""

    older: tuple[Turn, ...]
    base: tuple[Turn, ...]
    recent: tuple[Turn, ...]
    bundle_split: bool


@dataclass(frozen=True, slots=True)
class TailPolicy:
    """It is the one configuration that assembly and compaction share, so that their boundaries agree (X38)."""

    turns: int = BASE_TURNS
    target: float = TARGET_TOKENS

    def select(self, turns: Iterable[Turn], cost: Cost, hardcap: float = math.inf) -> Tail:
        """Protects at least the newest turn; only a direct call of the selector can switch the tail off."""
        return select_tail(turns, cost, m=max(1, self.turns), target=self.target, hardcap=hardcap)


def select_tail(
    turns: Iterable[Turn],
    cost: Cost,
    *,
    m: int = BASE_TURNS,
    target: float = TARGET_TOKENS,
    hardcap: float = math.inf,
) -> Tail:
    """Selects the longest bundle-safe suffix within the target; the last `m` turns belong to it at any price.

    The default of `m` lives here, so a caller that forgets it still protects the newest turns (X38).
    Growth and bundles together stay inside the cap (X36); only when not even the bundle closure of the base
    fits under `hardcap` is a bundle split, and the result says so.
    """
    ordered = sort_chronologically(turns)
    if m <= 0:
        return Tail(older=ordered, base=(), recent=(), bundle_split=False)
    base = max(0, len(ordered) - m)
    start = _tail_start(ordered, _suffix_costs(ordered, cost), base=base, target=target, hardcap=hardcap)
    split = start > bundle_start(ordered, base)
    return Tail(older=ordered[:start], base=ordered[base:], recent=ordered[start:], bundle_split=split)


def _suffix_costs(turns: Sequence[Turn], cost: Cost) -> list[float]:
    """Adds up from the end: entry i is the cost of everything from turn i on."""
    return list(accumulate((cost(turn) for turn in reversed(turns)), initial=0.0))[::-1]


def _tail_start(turns: Sequence[Turn], suffix: Sequence[float], base: int, target: float, hardcap: float) -> int:
    closure = bundle_start(turns, base)
    cap = min(max(target, suffix[base]), hardcap)
    if suffix[closure] > cap:
        return closure if suffix[closure] <= hardcap else base
    start = closure
    while start > 0:
        candidate = bundle_start(turns, start - 1)
        if suffix[candidate] > cap:
            break
        start = candidate
    return start
