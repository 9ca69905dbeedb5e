"""Cuts a long text into the pieces it is found by: groups of sentences, with code blocks and list items kept whole."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from lithify.memory.prompt.excerpt import find_pieces

# A vector of more words than this says hardly more of one of them than of the whole text.
PIECE_WORDS: Final = 70
# A code block, table or list item of up to this many times the bound is worth more whole than cut.
WHOLE: Final = 2
# A turn of the greatest size would make six hundred pieces. Beyond the cap all of them become coarser alike: choosing
# some would make a part of what was said impossible to find, and coarse tails would find the beginning better.
MAX_PIECES: Final = 48
# Nobody looks for one line of a log or a program as for one sentence, so these are cut coarser and sooner.
MAX_CODE_PIECES: Final = 12

# What counts as one word: two characters of Chinese and Japanese and four of Thai, Lao, Burmese and Khmer, which is
# about how long words are there, and twelve of anything else, so that no endless token counts as one.
_HAN: Final = r"\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SOUTH_EAST: Final = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_WORD = re.compile(rf"[{_HAN}]{{1,2}}|[{_SOUTH_EAST}]{{1,4}}|[^\s{_HAN}{_SOUTH_EAST}]{{1,12}}")
_WORD_CHARS: Final = 12
_LEAST_CHARS: Final = 2  # no text has more than one word in so many characters

_FENCE = re.compile(r"[ \t]{0,8}(```|~~~)")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_ITEM = re.compile(r"[ \t]{0,16}(?:[-*+•‣▪·][ \t]|\(?\d{1,3}[.)、][ \t]?|[（(]\d{1,3}[）)])")
_ROW = re.compile(r"[ \t]{0,8}\|")
_LEAD_IN: Final = (":", "：")
_LEAD_IN_WORDS: Final = 20  # a longer line is a paragraph that happens to end with a colon
# Prose of any language has about 5 in a hundred; programs, logs and tables of numbers have 25 and more.
_SYMBOL = re.compile(r"[!-@\[-`{-~]")
_CODE_SYMBOLS: Final = 0.2
_COARSER: Final = 1.25
_FULL: Final = 1.0 + 1e-9  # of shares, which are not exact

Span = tuple[int, int]


def cut_pieces(text: str) -> list[str]:
    """Returns the pieces of a text in their order, which lose nothing but white space; one piece is the text itself.

    There are never more than MAX_PIECES. Up to that many a piece has at most PIECE_WORDS words, or is one block.
    """
    if count_words(text) <= PIECE_WORDS:
        return [text]
    blocks = [_measure(text, *found) for found in _find_blocks(text)]
    prose = _find_bound((block for block in blocks if not block.is_code), MAX_PIECES)
    code = _find_bound((block for block in blocks if block.is_code), MAX_CODE_PIECES)
    while True:
        units = [unit for block in blocks for unit in _cut_block(text, block, code if block.is_code else prose)]
        spans = _pack(units)
        if len(spans) <= MAX_PIECES:
            pieces = [piece for start, end in spans if (piece := text[start:end].strip())]
            return pieces if len(pieces) > 1 else [text]
        growth = max(_COARSER, len(spans) / MAX_PIECES)
        prose = int(prose * growth)
        code = int(code * growth)


def is_divided(text: str) -> bool:
    """Says whether a text is found by more pieces than one."""
    return len(cut_pieces(text)) > 1


def count_words(text: str) -> int:
    """Counts words so that scripts without spaces and tokens without an end have some, too."""
    return sum(1 for _ in _WORD.finditer(text))


class _Kind(Enum):
    TEXT = "text"
    ITEM = "item"
    TABLE = "table"
    HEADING = "heading"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph, or what is kept whole if it can be: a list item, a table, a heading, a fenced code block."""

    start: int
    end: int
    kind: _Kind
    words: int
    is_code: bool


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is not divided further; one that is `tied` stays with what follows it."""

    start: int
    end: int
    words: int
    bound: int
    tied: bool


def _find_blocks(text: str) -> Iterator[tuple[int, int, _Kind]]:
    """Yields the blocks, which together are all of the text; blank lines belong to the block before them."""
    start = at = 0
    kind = _Kind.TEXT
    fence = ""
    is_apart = False  # behind a blank line or a closed fence
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            is_apart = mark is not None and mark.group(1) == fence
            fence = "" if is_apart else fence
        elif not line.strip():
            is_apart = True
        else:
            following = _Kind.CODE if mark else _find_kind(line, kind)
            if at > start and _begins(line, kind, following, is_apart):
                yield start, at, kind
                start = at
            kind = following
            fence = mark.group(1) if mark else ""
            is_apart = False
        at += len(line)
    if at > start:
        yield start, at, kind


def _find_kind(line: str, before: _Kind) -> _Kind:
    if _HEADING.match(line):
        return _Kind.HEADING
    if _ITEM.match(line):
        return _Kind.ITEM
    if _ROW.match(line):
        return _Kind.TABLE
    return _Kind.ITEM if _goes_on(line, before) else _Kind.TEXT


def _goes_on(line: str, before: _Kind) -> bool:
    """Says whether an indented line belongs to the list item before it."""
    return before is _Kind.ITEM and line[0] in " \t" and not _ITEM.match(line)


def _begins(line: str, before: _Kind, kind: _Kind, is_apart: bool) -> bool:
    if kind is not before or kind in (_Kind.HEADING, _Kind.CODE):
        return True
    return not _goes_on(line, before) if kind is _Kind.ITEM else is_apart


def _measure(text: str, start: int, end: int, kind: _Kind) -> _Block:
    said = text[start:end]
    return _Block(start, end, kind, count_words(said), kind is _Kind.CODE or _is_mostly_symbols(said))


def _is_mostly_symbols(said: str) -> bool:
    visible = sum(map(len, said.split()))
    return sum(1 for _ in _SYMBOL.finditer(said)) > _CODE_SYMBOLS * visible


def _find_bound(blocks: Iterable[_Block], most: int) -> int:
    words = sum(block.words for block in blocks)
    return max(PIECE_WORDS, -(-words // most))


def _cut_block(text: str, block: _Block, bound: int) -> Iterator[_Unit]:
    if block.kind is not _Kind.TEXT and block.words <= WHOLE * bound:
        tied = block.kind is _Kind.HEADING or _leads_in(text[block.start : block.end], block.words)
        yield _Unit(block.start, block.end, block.words, bound, tied and block.words <= _LEAD_IN_WORDS)
    else:
        yield from _cut_sentences(text, (block.start, block.end), bound, bound * _WORD_CHARS)


def _cut_sentences(text: str, span: Span, bound: int, size: int) -> Iterator[_Unit]:
    """Yields sentences and lines; one with too many words is cut into ever shorter parts until they fit."""
    first, last = span
    part = text[first:last]
    for start, end in find_pieces(part, size):
        said = part[start:end]
        words = count_words(said)
        if words <= bound or size <= _LEAST_CHARS * bound:
            yield _Unit(first + start, first + end, words, bound, _leads_in(said, words))
        else:
            yield from _cut_sentences(text, (first + start, first + end), bound, size // 2)


def _leads_in(said: str, words: int) -> bool:
    return words <= _LEAD_IN_WORDS and said.rstrip().endswith(_LEAD_IN)


def _pack(units: Sequence[_Unit]) -> list[Span]:
    """Joins neighbours as long as they fit, and all pieces about equally full: a remainder would say little alone."""
    needed = sum(map(_share, units))
    enough = needed / math.ceil(needed)
    spans: list[Span] = []
    used = math.inf
    for group in _tie(units):
        share = sum(map(_share, group))
        if used >= enough or used + share > _FULL:
            spans.append((group[0].start, group[-1].end))
            used = share
        else:
            spans[-1] = (spans[-1][0], group[-1].end)
            used += share
    return spans


def _tie(units: Iterable[_Unit]) -> Iterator[list[_Unit]]:
    """Yields units with the headings and introductions before them, unless these are too long together."""
    group: list[_Unit] = []
    used = 0.0
    for unit in units:
        if group and (not group[-1].tied or used + _share(unit) > WHOLE):
            yield group
            group = []
            used = 0.0
        group.append(unit)
        used += _share(unit)
    if group:
        yield group


def _share(unit: _Unit) -> float:
    """Returns how much of a piece the unit fills."""
    return unit.words / unit.bound
