"""Cuts a text into sentences of its own: what stands in quotation marks, in code or behind `>` is somebody else's."""

import re
from collections.abc import Collection, Iterator
from typing import Final

# A longer quotation is somebody else's sentence, a shorter one a name.
QUOTED_WORDS: Final = 3
QUOTATION: Final = "|"
"""What stands where a quotation was; no word has it."""

# Every repetition has a bound, so that no text can make matching slow.
_CODE = re.compile(r"```[^`]*(?:```|$)")
_QUOTED_LINE = re.compile(r"^[ \t]{0,8}>.*$", re.MULTILINE)
_QUOTES = re.compile(
    r"\"([^\"\n]{0,400})\"|“([^”\n]{0,400})”|«([^»\n]{0,400})»|„([^“”\n]{0,400})[“”]"
    r"|(?<![^\s(])'([^'\n]{0,200})'(?![^\s,.;:!?)])"
)
_STOP = re.compile(r"([.!?…。！？]{1,8})(?=\s|$)|\n")


def leave_out_quotations(text: str) -> str:
    """Returns the text without code and quotations; short quotations stay, without their marks."""
    plain = _CODE.sub(" ", text).replace("’", "'").replace("`", "")
    return _QUOTES.sub(_shorten, _QUOTED_LINE.sub(" ", plain))


def _shorten(match: re.Match[str]) -> str:
    quoted = next(group for group in match.groups() if group is not None)
    return quoted if len(quoted.split()) <= QUOTED_WORDS else QUOTATION


def split_sentences(text: str, abbreviations: Collection[str]) -> Iterator[str]:
    """Yields the sentences, their end marks included; an abbreviation or a number ends none."""
    start = 0
    for match in _STOP.finditer(text):
        last = text[start : match.start()].rsplit(None, 1)[-1:]
        if match.group(1) == "." and last and last[0].casefold().strip("(") in abbreviations:
            continue
        if sentence := text[start : match.end()].strip():
            yield sentence
        start = match.end()
    if rest := text[start:].strip():
        yield rest


def is_question(sentence: str) -> bool:
    return sentence.endswith(("?", "？"))
