"""Finds the expressions that tie a text to a time, in the words of its language."""

import re
from functools import cache
from typing import Final

from lithify.memory.languages.language import Language
from lithify.memory.languages.writing import MARKS

_DAY: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_YEAR: Final = r"(?:19|20)\d\d"
_NO_LETTER: Final = rf"(?![\w{MARKS}])"
_ORDINAL: Final = r"(?:[.º°ª]|-?[^\W\d_]{1,2})?"  # "3.", "1er", "3-го"
_LINK: Final = r"(?:\s{1,3}[^\W\d_]{2,3})?"  # "3 de marzo"
_PHRASES: Final = ("dates.relative", "dates.other", "dates.weekdays")


def take_dates(normal: str, language: Language) -> tuple[frozenset[str], str]:
    """Returns the distinct expressions of a text that went through `normalise`, and the text without them."""
    pattern = _compile_dates(language)
    rest = language.leave_out("dates.undated", normal)
    if pattern is None:
        return frozenset(), rest
    found = frozenset(" ".join(match.group().split()) for match in pattern.finditer(rest))
    return found, pattern.sub(" | ", rest) if found else rest


def names_month_of_year(normal: str, language: Language) -> bool:
    """Returns whether a text names a month of a year: "en marzo de 2023", "2023年3月"."""
    pattern = _compile_month_of_year(language)
    return pattern is not None and pattern.search(normal) is not None


@cache
def _compile_dates(language: Language) -> re.Pattern[str] | None:
    named = [pattern.pattern for cue in _PHRASES if (pattern := language.find_pattern(cue)) is not None]
    choices = [*_spell_day_and_month(language), *named]
    return re.compile("|".join(f"(?:{choice})" for choice in choices)) if choices else None


def _spell_day_and_month(language: Language) -> list[str]:
    """Returns how a day and its month are written: "3. März 2024"; where words are not separate, "3月3日", too."""
    if not language.months:
        return []
    months = _list_months(language)
    year = rf"(?:,?{_LINK}\s{{1,3}}{_YEAR}(?!\d))?"
    forward = rf"(?<![\w.,:/$€£]){_DAY}{_ORDINAL}{_LINK}\s{{1,3}}(?!\d){months}{year}"
    if language.spacing == "words":
        return [forward + _NO_LETTER]
    backward = rf"(?<![\d十]){months}\s{{0,2}}(?:{_DAY}|[一二三四五六七八九十]{{1,3}})(?:日|号|號|일)?"
    return [backward, forward]


@cache
def _compile_month_of_year(language: Language) -> re.Pattern[str] | None:
    if not language.months:
        return None
    months = _list_months(language)
    if language.spacing == "words":
        return re.compile(rf"(?<![\w{MARKS}]){months}\.?,?{_LINK}\s{{1,3}}{_YEAR}(?!\d)")
    return re.compile(rf"(?<!\d){_YEAR}\s{{0,2}}[^\W\d_]?\s{{0,2}}{months}|{months}\s{{1,3}}{_YEAR}(?!\d)")


def _list_months(language: Language) -> str:
    return f"(?:{'|'.join(map(re.escape, sorted(language.months, key=len, reverse=True)))})"
