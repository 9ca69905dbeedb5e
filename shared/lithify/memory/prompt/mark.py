"""What stands before a quoted text: when it was said, and by whom (spec 01 §7)."""

from datetime import UTC, datetime
from typing import Final

UNKNOWN_ROLE: Final = "unknown"
TOOL_ROLE: Final = "tool"
SUMMARY: Final = "summary"
OUTDATED: Final = "outdated"
ENTRY_ROLES: Final = ("user", "assistant", UNKNOWN_ROLE)


def entry_role(role: str | None, *, durable: bool = False) -> str:
    """Returns the speaker as the model may see it; no record can call itself system or tool.

    A recalled record without a role is the user's only if it comes from the user's durable memory.
    """
    if role is None:
        return "user" if durable else UNKNOWN_ROLE
    return role if role in ENTRY_ROLES else UNKNOWN_ROLE


def spoken_role(role: str | None) -> str:
    """Returns the speaker of a turn of the tail, where the results of tools stand, too."""
    return TOOL_ROLE if role == TOOL_ROLE else entry_role(role)


def mark_recalled(role: str, ts: float | None, *, outdated: bool = False) -> str:
    """Marks a memory with its day and its speaker; a time that no calendar holds is left out."""
    return _join(format_day(ts), f"{role}, {OUTDATED}" if outdated else role)


def mark_spoken(role: str, ts: float | None) -> str:
    """Marks a turn of the tail to the minute."""
    said = _moment(ts)
    return _join(said.strftime("%Y-%m-%d %H:%M") if said else "", role)


def mark_summary(since: float | None, until: float | None) -> str:
    """Marks a summary with the days it covers, as short as they can be told."""
    return _join(format_span(since, until), SUMMARY)


def format_day(ts: float | None) -> str:
    """Returns the day in UTC as 2026-11-13; nothing for a time that no calendar holds."""
    said = _moment(ts)
    return said.strftime("%Y-%m-%d") if said else ""


def format_span(since: float | None, until: float | None) -> str:
    """Returns the days of a span: 2026-05-01..07, 2026-05-01..06-02, 2025-12-30..2026-01-02, or the one day."""
    first = format_day(since)
    last = format_day(until)
    if not first or not last or first >= last:
        return last or first
    shared = 8 if first[:8] == last[:8] else 5 if first[:5] == last[:5] else 0
    return f"{first}..{last[shared:]}"


def _moment(ts: float | None) -> datetime | None:
    if ts is None:
        return None
    try:
        return datetime.fromtimestamp(ts / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _join(when: str, who: str) -> str:
    return f"{when} {who}" if when else who
