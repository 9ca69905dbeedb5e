"""Cuts a long stretch of text where it hurts least: between blocks, then sentences, then lines, then anywhere."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from lithify.docs.outline import Outline, Span

TARGET: Final = 1200
CAP: Final = 2000
"""No chunk has more characters."""

# A blank line, or the start of a list item or of a row of a table.
_PARAGRAPH = re.compile(r"\n(?:[ \t\r]*\n)+|\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|[ \t]*\|)")
_SENTENCE = re.compile(r"[.!?…][\"')\]]*\s+|[。！？]+[」』）]*")
_NEWLINE = re.compile(r"\n")
_SPACE = re.compile(r"\s+")


def pieces(structure: Outline, start: int, end: int) -> list[Span]:
    """Stretches of at most CAP characters that together are the whole one; blank ends are trimmed."""
    cutter = Cutter(structure)
    trimmed = (trim(structure.text, span) for span in cutter.cut(trim(structure.text, (start, end)), 0))
    return [(first, last) for first, last in trimmed if first < last]


def trim(text: str, span: Span) -> Span:
    """Without blank lines before and space after; the indentation of the first line stays."""
    start, end = span
    stretch = text[start:end]
    last = start + len(stretch.rstrip())
    first = start + len(stretch) - len(stretch.lstrip())
    line = text.rfind("\n", start, first) + 1
    return (max(line, start) if first < last else last), last


@dataclass(frozen=True, slots=True)
class Cutter:
    structure: Outline

    def cut(self, span: Span, rank: int) -> list[Span]:
        """Ranks are the kinds of places to cut at, best first; what one of them leaves too long goes to the next."""
        start, end = span
        if end - start <= CAP:
            return [span]
        if rank == len(_RANKS):
            return [(at, min(at + CAP, end)) for at in range(start, end, CAP)]
        marks = (start, *self._places(span, rank), end)
        return [piece for packed in packs(pairwise(marks)) for piece in self.cut(packed, rank + 1)]

    def _places(self, span: Span, rank: int) -> list[int]:
        start, end = span
        pattern = _RANKS[rank]
        if pattern is None:
            blocks = self.structure.blocks
            found: Sequence[int] = blocks[bisect_right(blocks, start) : bisect_left(blocks, end)]
        else:
            found = [match.end() for match in pattern.finditer(self.structure.text, start, end)]
        return [at for at in dict.fromkeys(found) if start < at < end and not self._is_protected(at, pattern)]

    def _is_protected(self, at: int, pattern: re.Pattern[str] | None) -> bool:
        """Code is not cut unless it is too long by itself, and never at what looks like the end of a sentence."""
        fences = self.structure.fences
        number = bisect_right(fences, (at, 0)) - 1
        if number < 0 or not fences[number][0] < at < fences[number][1]:
            return False
        first, last = fences[number]
        return last - first <= CAP or pattern is _SENTENCE


_RANKS: Final = (None, _PARAGRAPH, _SENTENCE, _NEWLINE, _SPACE)
"""Patterns end where a piece may begin; None stands for the blocks of the outline."""


def packs(fragments: Iterator[Span]) -> Iterator[Span]:
    """Neighbours together as long as they stay within the target."""
    start, end = next(fragments)
    for first, last in fragments:
        if last - start > TARGET:
            yield start, end
            start = first
        end = last
    yield start, end
