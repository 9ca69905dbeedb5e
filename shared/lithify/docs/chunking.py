"""A document as chunks (spec 10 §3): small enough to quote, large enough to understand, with ids that stay.

Short neighbouring sections share a chunk. A long stretch is cut where it hurts least: between blocks, then sentences,
then lines, then anywhere.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from lithify.docs.document import Lines
from lithify.docs.outline import Outline, Section, Span, read_outline, split_sections

TARGET: Final = 1200
CAP: Final = 2000
"""No chunk has more characters."""

SEPARATOR: Final = " > "
# Sections up to this length share a chunk, so many at most that the cap holds.
SHORT: Final = 400
MOST: Final = CAP // SHORT
# One heading in four begins a new chunk whatever stands around it: an edit moves nothing beyond the next of them.
STRIDE: Final = 4

# A blank line, or the start of a list item or of a row of a table.
_PARAGRAPH = re.compile(r"\n(?:[ \t\r]*\n)+|\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|[ \t]*\|)")
_SENTENCE = re.compile(r"[.!?…][\"')\]]*\s+|[。！？]+[」』）]*")
_NEWLINE = re.compile(r"\n")
_SPACE = re.compile(r"\s+")
_RANKS: Final = (None, _PARAGRAPH, _SENTENCE, _NEWLINE, _SPACE)
"""Kinds of places to cut at, best first. A pattern ends where a piece may begin; None: blocks of the outline."""


@dataclass(frozen=True, slots=True)
class ChunkText:
    """Holds the text of one chunk with its id and its place."""

    chunk_id: str
    text: str
    heading_path: str
    lines: Lines


@dataclass(frozen=True, slots=True)
class ChunkedText:
    """Holds a document's title and its chunks in the order of the file."""

    title: str
    chunks: tuple[ChunkText, ...]


def chunk_text(path: str, text: str) -> ChunkedText:
    """Cuts a document: every character that is not blank is in exactly one chunk, and none has more than CAP."""
    outline = read_outline(path, text)
    sections = fold_bare_headings(split_sections(outline), text)
    chunks = [chunk for group in group_sections(sections) for chunk in _cut_group(outline, group)]
    title = outline.headings[0].title if outline.headings else ""
    return ChunkedText(title or PurePosixPath(path).stem, tuple(chunks))


def fold_bare_headings(sections: Iterable[Section], text: str) -> Iterator[Section]:
    """Puts a heading without a text of its own to the section after it, which keeps its name."""
    start: int | None = None
    waiting: Section | None = None
    for section in sections:
        waiting = section if start is None else replace(section, start=start)
        start = waiting.start
        if text[section.body : section.end].strip():
            yield waiting
            start = waiting = None
    if waiting is not None:
        yield waiting


def group_sections(sections: Iterable[Section]) -> Iterator[list[Section]]:
    """Puts short neighbours under the same parent together.

    Where a group begins depends on headings, and on lengths only up to the next heading that always begins one. So an
    edit that makes a section long or short leaves all others in their chunks, save those that shared one with it.
    """
    group: list[Section] = []
    for section in sections:
        if group and not _joins(group, section):
            yield group
            group = []
        group.append(section)
    if group:
        yield group


def _joins(group: Sequence[Section], section: Section) -> bool:
    last = group[-1]
    return (
        len(group) < MOST
        and _is_short(last)
        and _is_short(section)
        and last.trail[:-1] == section.trail[:-1]
        and bool(last.trail)
        and not section.repeated
        and not _is_landmark(section.anchor)
    )


def _is_short(section: Section) -> bool:
    return section.end - section.start <= SHORT


def _is_landmark(anchor: str) -> bool:
    return blake2b(anchor.encode(), digest_size=1).digest()[0] % STRIDE == 0


def _cut_group(outline: Outline, group: Sequence[Section]) -> Iterator[ChunkText]:
    first = group[0]
    heading_path = SEPARATOR.join(first.trail)
    for number, (start, end) in enumerate(cut_span(outline, (first.start, group[-1].end)), start=1):
        chunk_id = first.anchor if number == 1 else f"{first.anchor}~{number}"
        lines = outline.line_of(start), outline.line_of(end - 1)
        yield ChunkText(chunk_id, outline.text[start:end], heading_path, lines)


def cut_span(outline: Outline, span: Span) -> list[Span]:
    """Returns stretches of at most CAP characters that together are the whole one; blank ends are trimmed."""
    pieces = Cutter(outline).cut(trim(outline.text, span), rank=0)
    trimmed = (trim(outline.text, piece) for piece in pieces)
    return [(first, last) for first, last in trimmed if first < last]


def trim(text: str, span: Span) -> Span:
    """Drops blank lines before and space after; the indentation of the first line stays."""
    start, end = span
    stretch = text[start:end]
    last = start + len(stretch.rstrip())
    first = start + len(stretch) - len(stretch.lstrip())
    line = text.rfind("\n", start, first) + 1
    return (max(line, start) if first < last else last), last


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts stretches of one text."""

    outline: Outline

    def cut(self, span: Span, rank: int) -> list[Span]:
        """Cuts at places of this rank; what that leaves too long goes to the next one."""
        start, end = span
        if end - start <= CAP:
            return [span]
        if rank == len(_RANKS):
            return [(at, min(at + CAP, end)) for at in range(start, end, CAP)]
        marks = (start, *self._places(span, rank), end)
        return [piece for packed in pack_neighbours(pairwise(marks)) for piece in self.cut(packed, rank + 1)]

    def _places(self, span: Span, rank: int) -> list[int]:
        start, end = span
        pattern = _RANKS[rank]
        if pattern is None:
            blocks = self.outline.blocks
            found: Sequence[int] = blocks[bisect_right(blocks, start) : bisect_left(blocks, end)]
        else:
            found = [match.end() for match in pattern.finditer(self.outline.text, start, end)]
        return [at for at in dict.fromkeys(found) if start < at < end and not self._is_protected(at, pattern)]

    def _is_protected(self, at: int, pattern: re.Pattern[str] | None) -> bool:
        """Code is not cut unless it is too long by itself, and never at what looks like the end of a sentence."""
        fences = self.outline.fences
        number = bisect_right(fences, (at, 0)) - 1
        if number < 0 or not fences[number][0] < at < fences[number][1]:
            return False
        first, last = fences[number]
        return last - first <= CAP or pattern is _SENTENCE


def pack_neighbours(fragments: Iterator[Span]) -> Iterator[Span]:
    """Joins neighbours as long as they stay within the target."""
    start, end = next(fragments)
    for first, last in fragments:
        if last - start > TARGET:
            yield start, end
            start = first
        end = last
    yield start, end
