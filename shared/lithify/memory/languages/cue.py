"""Compiles the phrases of a data file into patterns that find them in a text."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from lithify.memory.languages.writing import MARKS, fold_accents, normalise

Spacing = Literal["words", "endings", "none"]
"""How words are set apart: by blanks; by blanks, but with endings written on; not at all."""

_COMMA: Final = re.compile(r",(?!\d*\})")  # not that of a repetition: \d{1,3}
_LETTER: Final = rf"[\w{MARKS}]"
_LETTERS: Final = f"{_LETTER}{{0,40}}"  # bounded, so that no text without blanks can make matching slow
_GAP: Final = r"(?:[^\s!?]{1,40}\s){0,8}"  # up to eight words
_NOT_INSIDE: Final = rf"(?<!{_LETTER})"
_NOT_BEFORE: Final = rf"(?!{_LETTER})"


def split_phrases(text: str) -> tuple[str, ...]:
    """Returns the phrases of a field: they are set apart by commas."""
    phrases = (" ".join(phrase.split()) for phrase in _COMMA.split(text))
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase))


def compile_phrases(phrases: Iterable[str], spacing: Spacing, clitics: Sequence[str] = ()) -> re.Pattern[str] | None:
    """Compiles phrases for texts that went through `normalise`; None if there is none.

    A phrase is found as written and without its accents. `*` stands for any letters of one word, `…` for up to eight
    words, a group `(?:a|b)` for one of several words; a blank before `?` may be missing. Raises re.error for a phrase
    that is no pattern.
    """
    written = [form for phrase in phrases for form in _spell(phrase)]
    if not written:
        return None
    # The longest first: of two phrases that begin alike the one that says more is found.
    choice = "|".join(map(_translate, sorted(set(written), key=lambda form: (-len(form), form))))
    if spacing == "none":
        return re.compile(f"(?:{choice})")
    joined = rf"(?:{'|'.join(map(re.escape, clitics))})?" if clitics else ""
    return re.compile(rf"{_NOT_INSIDE}{joined}(?:{choice}){_NOT_BEFORE if spacing == 'words' else ''}")


def _spell(phrase: str) -> tuple[str, str]:
    plain = normalise(phrase)
    return plain, fold_accents(plain)


def _translate(phrase: str) -> str:
    spread = phrase.replace("... ", _GAP)  # as `normalise` writes the mark of an omission
    plain = spread.replace(".", r"\.").replace("*", _LETTERS)
    return plain.replace(" ?", r"\s{0,4}").replace(" ", r"\s{1,4}")
