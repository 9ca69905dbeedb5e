"""Tells from its words whether a question asks about now or about the past, and whether a statement tells of change."""

import re
from typing import Final

from lithify.memory.languages import find_foreign_readings, finds_cue, names_month_of_year, normalise

LONGEST: Final = 4000  # characters that are looked at: whoever tells of a change says so soon


# A month or a day of a year; a year alone may be the name of a budget.
_DATED: Final = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
    r"(?: \d{1,2}(?:st|nd|rd|th)?,?)?,? (?:19|20)\d\d\b"
    r"|\b(?:19|20)\d\d[-/]\d{1,2}\b|\b\d{1,2}[./]\d{1,2}[./](?:19|20)\d\d\b",
    re.IGNORECASE,
)


def names_date(query: str) -> bool:
    """Returns whether the question names a month or day of a year, and so asks about then and not about now."""
    if _DATED.search(query) is not None:
        return True
    normal = normalise(query)
    return any(names_month_of_year(normal, language) for language in find_foreign_readings(query))


def asks_for_latest(query: str) -> bool:
    return finds_cue("tenses.latest", query[:LONGEST])


def asks_for_past(query: str) -> bool:
    return finds_cue("tenses.past", query[:LONGEST])


def tells_of_change(text: str) -> bool:
    return finds_cue("tenses.change", text[:LONGEST])
