"""Finds the expressions that tie a text to a time, and how dense they are: A(d) of spec 09 §2."""

import re
from typing import Final

from lithify.memory.languages import find_foreign_readings, normalise, take_dates

SATURATION: Final = 3  # distinct anchors that make the density 1

_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH_NUMBER = r"(?:0?[1-9]|1[0-2])"
_ORDINAL = r"(?:st|nd|rd|th)"
_YEAR = r"(?:19|20)\d{2}"
_CERTAIN = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
# Both are verbs, too: "only 3 may enter", "they march 20 miles".
_VERB = r"(?:may|mar(?:ch)?)"
_MONTH = rf"(?:{_CERTAIN}|{_VERB})"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_SPAN = r"(?:day|night|week|weekend|month|year)s?"
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|few|several|couple\s+of)"
_ON = r"(?:(?<=\bon\s)|(?<=\bby\s)|(?<=\bsince\s)|(?<=\buntil\s)|(?<=\bfrom\s)|(?<=\bbefore\s)|(?<=\bafter\s))"
_DISTANCE = r"(?:miles?|km|kilomet(?:er|re)s?|met(?:er|re)s?|yards?|blocks?|steps?|hours?|minutes?|days?|more|times)"
_MONEY = r"(?:[$€£¥₹%]|usd\b|eur\b|gbp\b|dollars?\b|euros?\b|pounds?\b|bucks\b|yen\b|francs?\b|rupees?\b)"
_MEASURE = (
    r"(?:[kmgt]i?b|[km]?hz|px|k?cal|calories|km|kg|m[gl]|miles|met(?:er|re)s?|steps|words|tokens|people|users|rows"
    r"|lines|items|times|points|pages|rpm|watts?|mah|hours|minutes|seconds|ms)\b"
)

# One pass, longest readings first: an anchor inside another is not counted again (X50).
_NUMERIC = rf"""
      \d{{4}}-\d{{2}}-\d{{2}}(?!\d)                                               # 2024-08-11
    | (?<![\w.]){_YEAR}([./])(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])(?![./]?\d)  # 2024/08/11
    | (?<![\w.]){_DAY}\.\ ?{_MONTH_NUMBER}\.\ ?{_YEAR}(?!\.?\d)                    # 11.08.2024, not 1.2.3
    | (?<![\w.])(?=0|\d\d\.0)\d\d\.(?:0[1-9]|1[0-2])\.\d\d(?!\.?\d)            # 11.08.24, not 3.11.14
    | (?<!/)(?!24/7\b){_DAY}/{_DAY}(?:/(?:\d{{4}}|\d{{2}}))?(?![\d/])             # 4/2, 4/2/24
    | (?<![\w.,:/$€£]){_DAY}-{_MONTH}-(?:\d{{4}}|\d{{2}})\b                        # 09-Apr-2024
    | (?<![\w.,:/$€£]){_DAY}(?:{_ORDINAL}|\.)?\s+(?:of\s+)?{_CERTAIN}\b(?:,?\s+{_YEAR}\b)?      # 9 April
    | (?<![\w.,:/$€£]){_DAY}{_ORDINAL}?\s+(?:of\s+{_VERB}\b|{_VERB}(?=,?\s+{_YEAR}\b))(?:,?\s+{_YEAR}\b)?
    | (?<![\w.,:/$€£]){_DAY}{_ORDINAL}?\s+(?-i:May|Mar|March)\b                    # as a name it is a month
    | {_ON}{_DAY}{_ORDINAL}?\s+{_VERB}\b
    | \b\d{{1,3}}\s+{_SPAN}\s+ago\b
    | (?<!:)\d{{1,2}}:\d{{2}}(?!\d)(?:\s*[ap]m\b)?                               # 8:15 am
    | \d{{10,13}}(?!\d)                                                          # a timestamp
    | (?<![\w$€£¥₹#.])(?<!usd\ )(?<!eur\ )(?<!gbp\ ){_YEAR}\b
      (?![.,]\d|\ ?{_MONEY}|\ ?{_MEASURE})                                        # a year standing alone (X50)
"""
_WORDED = rf"""
      mid(?:[ -]?{_MONTH}|-{_SEASON})\b                                           # not "middle", "midnight" (X50)
    | (?!{_VERB}\.?\s+\d+(?:[.,]\d|\ {_DISTANCE}\b))
      {_MONTH}\.?\s+{_DAY}{_ORDINAL}?(?:,?\s+\d{{4}})?\b                         # April 9th, 2024
    | (?:last|next)\s+(?:week(?:end)?|month|year|{_WEEKDAY})\b
    | last\s+night\b
    | this\s+(?:weekend|{_WEEKDAY})\b
    | {_COUNT}\s+{_SPAN}\s+ago\b
    | (?:today|yesterday|tomorrow|{_WEEKDAY})\b
"""
# What most positions of a text do not begin with is looked at first.
_ANCHOR = re.compile(rf"(?<!\d)(?=\d)(?:{_NUMERIC})|\b(?=[a-z])(?:{_WORDED})", re.VERBOSE | re.IGNORECASE)


def find_anchors(text: str) -> frozenset[str]:
    """Finds the distinct expressions, in lower case, blanks collapsed: in the text's language, numbers and English."""
    foreign = find_foreign_readings(text)
    rest = normalise(text) if foreign else text
    found: frozenset[str] = frozenset()
    for language in foreign:
        dates, rest = take_dates(rest, language)
        found |= dates
    # As it was written where nothing was taken out: a capital tells the month of May from a verb.
    left = rest if found else text
    return found | frozenset(" ".join(match.group().lower().split()) for match in _ANCHOR.finditer(left))


def anchor_density(text: str) -> float:
    """Returns A(d) in [0, 1].

    There is no cache beside the stored value: one keyed by text would keep what a user asked to forget.
    """
    return min(len(find_anchors(text)) / SATURATION, 1.0)
