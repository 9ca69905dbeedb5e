"""Decides which earlier statements a later one replaces."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from lithify.memory.updates.claims import Claim

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class Statement:
    """Something a user said, with what it claims; `ts` in ms, `seq` orders what was said in the same millisecond."""

    id: str
    ts: float
    claims: tuple[Claim, ...]
    seq: int = 0
    session: str | None = None


def is_updated(earlier: Claim, later: Claim) -> bool:
    """True if the later claim leaves no room for the earlier one.

    Saying it again, in more or in fewer words, updates nothing: "Lisbon" and "Lisbon, in Alfama" are one place.
    """
    if earlier.attribute != later.attribute:
        return False
    if earlier.polar or later.polar:
        return _is_reversed(earlier, later)
    if earlier.ended or ((earlier.weak or later.weak) and not later.changed and not later.ended):
        return False
    if later.ended:
        return _is_same(earlier.value, later.value)
    if later.exact and later.changed:
        return earlier.value != later.value
    return _differs(earlier.value, later.value, changed=later.changed)


def _is_reversed(earlier: Claim, later: Claim) -> bool:
    if earlier.ended == later.ended:
        return False
    return earlier.value == later.value or (later.changed and later.value <= earlier.value)


def _is_same(earlier: frozenset[str], later: frozenset[str]) -> bool:
    return earlier <= later or later <= earlier


def _differs(earlier: frozenset[str], later: frozenset[str], *, changed: bool) -> bool:
    """Compares moments part by part: "Thursday" and "10:00" may be one time, unless a change was told of."""
    before = dict(part.split(":", 1) for part in earlier if ":" in part)
    after = dict(part.split(":", 1) for part in later if ":" in part)
    shared = before.keys() & after.keys()
    if shared:
        return any(before[slot] != after[slot] for slot in shared)
    if before or after:
        return changed
    return not _is_same(earlier, later)


def find_superseded(statement: Statement, others: Iterable[Statement]) -> dict[str, str]:
    """Returns, for each statement that is out of date, the one that replaces it.

    The given statement may be the newer or the older one: turns of an import arrive in any order.
    """
    replaced: dict[str, str] = {}
    for other in others:
        if other.id == statement.id:
            continue
        older, newer = sorted((other, statement), key=time_key)
        if replaces(newer, older):
            replaced[older.id] = newer.id
    return replaced


def time_key(statement: Statement) -> tuple[float, int, str]:
    return statement.ts, statement.seq, statement.id


def replaces(newer: Statement, older: Statement) -> bool:
    """Tells whether one claim of the newer statement leaves no room for one of the older."""
    return any(
        is_updated(before, after) and (newer.session == older.session or not after.local or after.changed)
        for before in older.claims
        for after in newer.claims
    )


def newest_first(
    ranked: Iterable[ItemT], names: Callable[[ItemT], Iterable[str]], replaced_by: Callable[[ItemT], str | None]
) -> list[ItemT]:
    """Returns a ranking in which nothing stands before what replaced it; everything else keeps its order.

    `names` are the ids under which something is known, `replaced_by` the id of what replaced it.
    """
    listed = list(ranked)
    places = {name: place for place, item in enumerate(listed) for name in names(item)}
    late: dict[int, list[ItemT]] = {}
    order: list[ItemT] = []
    for place, item in enumerate(listed):
        successor = replaced_by(item)
        later = places.get(successor, place) if successor else place
        if later > place:
            late.setdefault(later, []).append(item)
        else:
            order.append(item)
        order.extend(late.pop(place, ()))
    return order
