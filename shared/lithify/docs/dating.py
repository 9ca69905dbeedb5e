"""Finds dates: the one a document is from, and those in its text, in whatever form they are written."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from lithify.docs.outline import front_matter
from lithify.memory.ranking.decay import date_in_path

# Not from the calendar module: its names follow the locale.
MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

_HEAD_DATE = re.compile(r"^date[ \t]*:[ \t]*[\"']?(\d{4}-\d{2}-\d{2})", re.MULTILINE | re.IGNORECASE)
_NAME = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_FORMS: Final = (
    re.compile(rf"(?<!\d){_YEAR}(?P<gap>[-/.])(?P<number>\d{{1,2}})(?P=gap){_DAY}(?!\d)"),
    re.compile(rf"(?<!\d){_YEAR}\s?年\s?(?P<number>\d{{1,2}})\s?月\s?{_DAY}\s?日"),
    re.compile(rf"(?<!\d){_DAY}\s+(?:of\s+)?{_NAME},?\s+{_YEAR}(?!\d)", re.IGNORECASE),
    re.compile(rf"\b{_NAME}\s+{_DAY},?\s+{_YEAR}(?!\d)", re.IGNORECASE),
)


def ts_hint(path: str, text: str) -> str | None:
    """Returns the date in the front matter, else the last one in the path, else nothing; as YYYY-MM-DD."""
    written = _HEAD_DATE.search(front_matter(text))
    dated = _real_date(*map(int, written[1].split("-"))) if written else None
    found = dated or date_in_path(path)
    return found.isoformat() if found else None


def dates_in(text: str) -> Iterator[date]:
    """Yields real dates; it knows numbers and month names in English, and the forms of Chinese and Japanese."""
    for form in _FORMS:
        for match in form.finditer(text):
            parts = match.groupdict()
            month = int(parts["number"]) if parts.get("number") else _month(parts["month"])
            found = _real_date(int(parts["year"]), month, int(parts["day"]))
            if found is not None:
                yield found


def date_in_words(day: date) -> str:
    """Writes a date as people do, and as machines do."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year} {day.isoformat()}"


def _month(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, start=1) if month.startswith(name.lower()))


def _real_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
