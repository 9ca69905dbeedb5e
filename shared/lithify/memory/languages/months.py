"""Finds the months that a text names, in its own language."""

import re
from functools import cache
from typing import Final

from lithify.memory.languages.language import ENGLISH, Language, load_languages

_WORD: Final = re.compile(r"[^\W\d_][\w\u0900-\u0963]*")


def find_months(normal: str, language: Language) -> list[int]:
    """Returns the numbers of the months that a text names, in its order; it went through `normalise`."""
    if language.spacing == "words":
        return [language.months[word] for word in _WORD.findall(normal) if word in language.months]
    pattern = _compile_names(language)
    return [language.months[name] for name in pattern.findall(normal)] if pattern else []


def names_month(normal: str, language: Language) -> bool:
    return bool(find_months(normal, language))


def english_month(number: int) -> str:
    """Returns the name of a month by which turns are dated."""
    return next(name for name, place in load_languages()[ENGLISH].months.items() if place == number)


@cache
def _compile_names(language: Language) -> re.Pattern[str] | None:
    """Returns how months are named where words are not separate: "5月" in "2023年5月8日", not in "15月" or "5月間"."""
    if not language.months:
        return None
    names = sorted(language.months, key=len, reverse=True)
    return re.compile(rf"(?<![\d十])(?:{'|'.join(map(re.escape, names))})(?!間)")
