"""Keeps the newest turns verbatim, so that continuity depends neither on retrieval nor on summaries (spec 07)."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from lithify.memory.bounds import clamp01, number_or

BASE_TURNS = 4
TARGET_TOKENS = 128.0


@dataclass(frozen=True, slots=True)
class Turn:
    """A session record as continuity and compaction see it."""

    id: str
    ts: float  # milliseconds
    role: str
    text: str
    seq: int = 0  # position in the session; one batch may carry one timestamp for all its turns
    kind: str = "turn"
    bundle_id: str = ""
    reply_to: str = ""  # id of the turn this one answers, where the host says so
    call_id: str = ""  # shared by a tool call and its results
    user: str = ""
    gating_score: float | None = None


Cost = Callable[[Turn], float]


@dataclass(frozen=True, slots=True)
class Tail:
    """The session cut in two: `older` + `recent` is the whole of it, and `base` is a suffix of `recent`."""

    older: tuple[Turn, ...]
    base: tuple[Turn, ...]
    recent: tuple[Turn, ...]
    bundle_split: bool


@dataclass(frozen=True, slots=True)
class TailPolicy:
    """The one configuration that assembly and compaction share, so that their boundaries agree (X38)."""

    turns: int = BASE_TURNS
    target: float = TARGET_TOKENS

    def select(self, turns: Iterable[Turn], cost: Cost, hardcap: float = math.inf) -> Tail:
        """At least the newest turn is protected; only a direct call of the selector can switch the tail off."""
        return select_tail(turns, cost, m=max(1, self.turns), target=self.target, hardcap=hardcap)


def tail_target(budget: float, share: float | None = None) -> float:
    """β·τ where a share is configured, else the absolute default (X37)."""
    if share is None:
        return TARGET_TOKENS
    return clamp01(share) * max(0.0, number_or(budget, 0.0))


def chronological(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """By time, then position, then id; an unreadable time counts as 0."""
    return tuple(sorted(turns, key=lambda turn: (number_or(turn.ts, 0.0), turn.seq, turn.id)))


def coupled(left: Turn, right: Turn) -> bool:
    """True when the two neighbours must stay together.

    Requests bind their responses, never the reverse (X35): otherwise an alternating chat is one endless
    bundle and nothing in it ever becomes old.
    """
    if left.bundle_id and left.bundle_id == right.bundle_id:
        return True
    if right.role == "tool":
        return bool(left.call_id) and left.call_id == right.call_id
    return left.role == "user" and right.role == "assistant" and right.reply_to in ("", left.id)


def bundle_start(turns: Sequence[Turn], start: int) -> int:
    """The nearest start at or before `start` that splits no bundle."""
    while 0 < start < len(turns) and coupled(turns[start - 1], turns[start]):
        start -= 1
    return start


def select_tail(
    turns: Iterable[Turn],
    cost: Cost,
    *,
    m: int = BASE_TURNS,
    target: float = TARGET_TOKENS,
    hardcap: float = math.inf,
) -> Tail:
    """The longest bundle-safe suffix within the target; the last `m` turns belong to it at any price.

    The default of `m` lives here, so a caller that forgets it still protects the newest turns (X38).
    Growth and bundles together stay inside the cap (X36); only when not even the bundle closure of the base
    fits under `hardcap` is a bundle split, and the result says so.
    """
    ordered = chronological(turns)
    if m <= 0:
        return Tail(older=ordered, base=(), recent=(), bundle_split=False)
    base = max(0, len(ordered) - m)
    start = _tail_start(ordered, _suffix_costs(ordered, cost), base, target, hardcap)
    split = start > bundle_start(ordered, base)
    return Tail(older=ordered[:start], base=ordered[base:], recent=ordered[start:], bundle_split=split)


def _suffix_costs(turns: Sequence[Turn], cost: Cost) -> list[float]:
    """Entry i is the cost of everything from turn i on."""
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
