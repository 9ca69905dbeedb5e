"""Brings text into a normal form of Unicode in time proportional to its length, whatever is written in it."""

import unicodedata
from collections.abc import Iterator
from typing import Final, Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

# Accents are sorted by insertion, which takes the square of their number: 260,000 of two kinds by turns cost half a
# minute, during which no other thread runs. No word has a hundredth of this.
SPAN: Final = 256
# How far back a place is looked for at which a text may be cut.
REACH: Final = 64
_JOINING: Final = frozenset(map(chr, range(0x1160, 0x1200))) | {"\uff9e", "\uff9f"}  # parts of Hangul, marks of kana


def normalise_form(form: Form, text: str) -> str:
    """Returns the text in the form, as `unicodedata.normalize` does.

    It differs only where more than a hundred accents stand on one letter: they are not all in their order.
    """
    if text.isascii() or len(text) <= SPAN:
        return unicodedata.normalize(form, text)
    return "".join(unicodedata.normalize(form, span) for span in _cut_spans(text))


def _cut_spans(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = _find_cut(text, start + SPAN)
        yield text[start:end]
        start = end


def _find_cut(text: str, end: int) -> int:
    """Returns the last place before an end where a character begins that joins nothing before it."""
    if end >= len(text):
        return len(text)
    return next((at for at in range(end, end - REACH, -1) if _stands_alone(text[at])), end)


def _stands_alone(character: str) -> bool:
    return not unicodedata.category(character).startswith("M") and character not in _JOINING
