"""A document as chunks (spec 10 §3): small enough to quote, large enough to understand, with ids that stay."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Final

from lithify.docs.cutting import CAP, pieces
from lithify.docs.document import Lines
from lithify.docs.outline import Outline, outline
from lithify.docs.sections import Section, sections

SEPARATOR: Final = " > "
# Sections up to this length share a chunk, so many at most that the cap holds.
SHORT: Final = 400
MOST: Final = CAP // SHORT
# One heading in four begins a new chunk whatever stands around it: an edit moves nothing beyond the next of them.
STRIDE: Final = 4


@dataclass(frozen=True, slots=True)
class Piece:
    chunk_id: str
    text: str
    heading_path: str
    lines: Lines


@dataclass(frozen=True, slots=True)
class Cut:
    """A document's title and its chunks in the order of the file."""

    title: str
    pieces: tuple[Piece, ...]


def chunked(path: str, text: str) -> Cut:
    """Pure; every character that is not blank is in exactly one chunk, and none has more than CAP."""
    structure = outline(path, text)
    found = [piece for group in grouped(folded(sections(structure), text)) for piece in _pieces(structure, group)]
    title = structure.headings[0].title if structure.headings else ""
    return Cut(title or PurePosixPath(path).stem, tuple(found))


def folded(found: Iterable[Section], text: str) -> Iterator[Section]:
    """A heading without a text of its own stands with the section after it, which keeps its name."""
    start: int | None = None
    waiting: Section | None = None
    for section in found:
        waiting = section if start is None else replace(section, start=start)
        start = waiting.start
        if text[section.body : section.end].strip():
            yield waiting
            start = waiting = None
    if waiting is not None:
        yield waiting


def grouped(found: Iterable[Section]) -> Iterator[list[Section]]:
    """Short neighbours under the same parent together.

    Where a group begins depends on headings, and on lengths only up to the next heading that always begins one. So an
    edit that makes a section long or short leaves all others in their chunks, save those that shared one with it.
    """
    group: list[Section] = []
    for section in found:
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


def _pieces(structure: Outline, group: Sequence[Section]) -> Iterator[Piece]:
    first = group[0]
    heading_path = SEPARATOR.join(first.trail)
    for number, (start, end) in enumerate(pieces(structure, first.start, group[-1].end), start=1):
        chunk_id = first.anchor if number == 1 else f"{first.anchor}~{number}"
        lines = structure.line_of(start), structure.line_of(end - 1)
        yield Piece(chunk_id, structure.text[start:end], heading_path, lines)
