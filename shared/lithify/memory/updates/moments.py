"""Reads days and times as parts that can be compared one by one: "Thursday at 3pm" and "on Thursday" agree."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from lithify.memory.updates.grammar import Moments

_CLOCK = re.compile(r"(\d{1,2})[:h](\d{2})(?:am|pm|h|uhr)?")
_HOUR = re.compile(r"(\d{1,2})(?:[.](\d{2}))?(?:am|pm|h|uhr)")
_BARE_HOUR = re.compile(r"(\d{1,2})(?:[.](\d{2}))?")
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"(\d{1,2})([^\W\d_]{2})?\.?")
STRIPPED: Final = ".,;:!?'\"*"


def read_moment(words: Sequence[str], moments: Moments) -> frozenset[str]:
    """Returns the parts of a day or time, as `weekday:5`, that the words open with; none behind anything else."""
    parts: dict[str, str] = {}
    for place, word in enumerate(words):
        found = dict(read_parts(words, place, moments))
        if not found and not parts and word not in moments.lead and not _is_day(word, moments):
            return frozenset()
        for slot, value in found.items():
            parts.setdefault(slot, value)
    return frozenset(f"{slot}:{value}" for slot, value in parts.items())


def read_parts(words: Sequence[str], place: int, moments: Moments) -> Iterator[tuple[str, str]]:
    """Yields the parts of a moment that the word at this place names."""
    word = words[place].strip(STRIPPED)
    weekday = moments.weekdays.get(word) or moments.weekdays.get(word.removesuffix("s"))
    if weekday is not None:
        yield "weekday", str(weekday)
    elif word in moments.months:
        yield "month", str(moments.months[word])
        yield from _day_beside(words, place, moments)
    elif (iso := _ISO.fullmatch(word)) is not None:
        yield from zip(("year", "month", "day"), (str(int(part)) for part in iso.groups()), strict=True)
    elif _YEAR.fullmatch(word):
        yield "year", word
    elif (clock := _read_clock(words, place, moments)) is not None:
        yield "clock", clock


def _day_beside(words: Sequence[str], place: int, moments: Moments) -> Iterator[tuple[str, str]]:
    """Yields the day of a month: "May 5", "5th May", "the 5th of May"."""
    for near in (place + 1, place - 1, place - 2):
        if 0 <= near < len(words) and _is_day(words[near], moments):
            yield "day", str(int(re.sub(r"\D", "", words[near])))
            return


def _is_day(word: str, moments: Moments) -> bool:
    match = _DAY.fullmatch(word.strip(STRIPPED))
    return match is not None and (match.group(2) is None or match.group(2) in moments.ordinals)


def _read_clock(words: Sequence[str], place: int, moments: Moments) -> str | None:
    """Returns a time on a dial of twelve hours, since people leave out which half of the day they mean."""
    word = words[place].strip(STRIPPED)
    if word in moments.clocks:
        return _dial(*moments.clocks[word].split(":"))
    if match := _CLOCK.fullmatch(word) or _HOUR.fullmatch(word):
        return _dial(*match.groups())
    named = place + 1 < len(words) and words[place + 1].strip(STRIPPED) in moments.halves
    match = _BARE_HOUR.fullmatch(word)
    if match is not None and (named or (place > 0 and words[place - 1] in moments.at)):
        return _dial(*match.groups())
    return None


def _dial(hour: str, minute: str | None = None) -> str:
    return f"{int(hour) % 12}:{minute or '00'}"
