"""Counts the expressions that tie a text to a point in time (spec 09 §2); stored with the record as A(d)."""

import re

SATURATION = 3  # distinct anchors that make the density 1

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SEASON = r"(?:spring|summer|autumn|fall|winter)"

# One pass, longest readings first: an anchor inside another is not counted again (X50).
_ANCHOR = re.compile(
    rf"""
      (?<!\d)\d{{4}}-\d{{2}}-\d{{2}}(?!\d)                                  # 2024-08-11
    | (?<![\d/])\d{{1,2}}/\d{{1,2}}(?:/(?:\d{{4}}|\d{{2}}))?(?![\d/])       # 4/2, 4/2/24
    | \bmid(?:[ -]?{_MONTH}|-{_SEASON})\b                                   # not "middle", "midnight" (X50)
    | \b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?\b          # April 9th, 2024
    | \blast\s+(?:week|month|year|night|saturday|sunday)\b
    | \bnext\s+(?:week|month|year|{_WEEKDAY})\b
    | \b(?:today|yesterday|tomorrow|{_WEEKDAY})\b
    | (?<![\d:])\d{{1,2}}:\d{{2}}(?!\d)(?:\s*[ap]m\b)?                      # 8:15 am
    | (?<!\d)\d{{10,13}}(?!\d)                                              # a timestamp
    | \b(?:19|20)\d{{2}}\b                                                  # a year standing alone (X50)
    """,
    re.VERBOSE,
)


def find_anchors(text: str) -> frozenset[str]:
    """Finds the distinct expressions, in lower case, blanks collapsed."""
    return frozenset(" ".join(match.split()) for match in _ANCHOR.findall(text.lower()))


def anchor_density(text: str) -> float:
    """Returns A(d) in [0, 1].

    There is no cache beside the stored value: one keyed by text would keep what a user asked to forget.
    """
    return min(len(find_anchors(text)) / SATURATION, 1.0)
