"""Numbers, ages and moments in the words of the pages."""

from datetime import UTC, datetime
from typing import Final

NOTHING: Final = "–"

_STEPS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"))

MARKS: Final = {"clear": "●", "working": "◐", "behind": "▲", "stuck": "■"}
"""Shapes that differ without colour; the word always stands beside them."""


def age(ms: int | None) -> str:
    """The two digits that matter: nobody acts on milliseconds of an hour."""
    if ms is None:
        return NOTHING
    for length, unit in _STEPS:
        if ms >= length:
            return f"{ms / length:.1f} {unit}" if ms < 10 * length else f"{ms // length} {unit}"
    return f"{ms / 1000:.1f} s" if ms >= 1000 or not ms else f"{ms} ms"


def number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def rate(per_second: float | None) -> str:
    if per_second is None:
        return NOTHING
    return f"{per_second:,.0f}/s" if per_second >= 100 else f"{per_second:.1f}/s"


def day(ms: int | None) -> str:
    return moment(ms, "%Y-%m-%d")


def moment(ms: int | None, pattern: str = "%Y-%m-%d %H:%M:%S") -> str:
    """UTC, as all times of the pages."""
    if ms is None:
        return NOTHING
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime(pattern)
    except (OverflowError, ValueError, OSError):
        return f"{ms} ms"


def decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def mark(state: str) -> str:
    return MARKS.get(state, "●")
