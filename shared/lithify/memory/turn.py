"""A turn of a session, the order of turns, and which of them must stay together (spec 07)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lithify.memory.bounds import number_or


@dataclass(frozen=True, slots=True)
class Turn:
    """It is one record of a session, as continuity and compaction see it."""

    id: str
    ts: float  # milliseconds
    role: str
    text: str
    seq: int = 0  # position in the session; one batch may carry one timestamp for all its turns
    kind: str = "turn"
    bundle_id: str = ""
    reply_to: str = ""  # id of the turn this one answers, where the host says so
    user: str = ""
    gating_score: float | None = None
    memory_id: str = ""  # of its record, if it has or will have one


def sort_chronologically(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Sorts by time, then position, then id; an unreadable time counts as 0."""
    return tuple(sorted(turns, key=lambda turn: (number_or(turn.ts, 0.0), turn.seq, turn.id)))


def are_coupled(left: Turn, right: Turn) -> bool:
    """Returns whether the two neighbours must stay together (spec 07).

    Requests bind their responses, never the reverse (X35): otherwise an alternating chat is one endless
    bundle and nothing in it ever becomes old.
    """
    if left.bundle_id and left.bundle_id == right.bundle_id:
        return True
    return left.role == "user" and right.role == "assistant" and right.reply_to in ("", left.id)


def bundle_start(turns: Sequence[Turn], start: int) -> int:
    """Returns the nearest start at or before `start` that splits no bundle."""
    while 0 < start < len(turns) and are_coupled(turns[start - 1], turns[start]):
        start -= 1
    return start
