"""Cuts a text at its headings, and gives every section a name that an edit elsewhere does not change."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from lithify.docs.outline import Heading, Outline

TOP: Final = "_top"
"""The anchor of what stands before the first heading."""

MAX_SLUG: Final = 80

_NOT_IN_SLUG = re.compile(r"[^\w\s-]")
_GAP = re.compile(r"[\s-]+")


@dataclass(frozen=True, slots=True)
class Section:
    """From one heading to the next; `trail` are the titles from the root down to its own."""

    start: int
    end: int
    body: int  # where the text after the heading begins
    anchor: str  # unique in the file
    repeated: bool  # an earlier heading has the same slug
    trail: tuple[str, ...]


def sections(structure: Outline) -> Iterator[Section]:
    """All of the text, in order. An anchor is the slug of its heading, counted from the second of equal ones on."""
    text, headings = structure.text, structure.headings
    seen: Counter[str] = Counter()
    trail: list[Heading] = []
    first = headings[0].offset if headings else len(text)
    if text[:first].strip():
        seen[TOP] += 1
        yield Section(0, first, 0, TOP, repeated=False, trail=())
    ends = (*(heading.offset for heading in headings), len(text))
    for heading, (start, end) in zip(headings, pairwise(ends), strict=True):
        trail = [*(one for one in trail if one.level < heading.level), heading]
        seen[slug(heading.title)] += 1
        count = seen[slug(heading.title)]
        anchor = slug(heading.title) if count == 1 else f"{slug(heading.title)}.{count}"
        yield Section(start, end, heading.body, anchor, count > 1, tuple(one.title for one in trail))


def slug(title: str) -> str:
    """Letters, digits and underscores in lower case, joined by hyphens: the same on every platform."""
    plain = _NOT_IN_SLUG.sub("", unicodedata.normalize("NFKC", title).lower())
    return _GAP.sub("-", plain).strip("-_")[:MAX_SLUG].rstrip("-_") or "section"
