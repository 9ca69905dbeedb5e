"""Tells from its words whether a question asks about now or about the past, and whether a statement tells of change."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

UNSPACED: Final = "unspaced"
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
    return _DATED.search(query) is not None


def asks_for_latest(query: str) -> bool:
    return _find("latest", query)


def asks_for_past(query: str) -> bool:
    return _find("past", query)


def tells_of_change(text: str) -> bool:
    return _find("change", text)


def _find(table: str, text: str) -> bool:
    return _load_pattern(table).search(text[:LONGEST].replace("’", "'")) is not None


@cache
def _load_pattern(table: str) -> re.Pattern[str]:
    languages = tomllib.loads(files(__package__).joinpath("tenses.toml").read_text("utf-8"))[table]
    spaced = {word for name, words in languages.items() if name != UNSPACED for word in words}
    anywhere = map(re.escape, languages[UNSPACED])
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(spaced)))})\b|{'|'.join(anywhere)}", re.IGNORECASE)
