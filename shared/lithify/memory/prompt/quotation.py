"""Stored words as a prompt may show them: unable to leave their line's place, to hide, or to turn the text around."""

import re
from typing import Final

INDENT: Final = "  "
"""Opens every line of a text but its first, so that no stored line can begin like a frame."""

_BREAK = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Controls, halves of a character, and what is written but not seen: bidi marks, joiners of nothing, blank letters, tag
# characters. Tabs stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
# One selects a form of the character before it; a run of them carries a hidden text, and so does one behind a
# character that has no such forms.
_SELECTORS = re.compile("([\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_IDEOGRAPH = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_USELESS_SELECTOR = re.compile(
    f"(?<![^\x00-\x7f])[\ufe00-\ufe0d]|(?<![{_IDEOGRAPH}])[\U000e0100-\U000e01ef]|(?<![\u1800-\u18af])[\u180b-\u180d\u180f]"
)
# Joiners spell words where letters change with their neighbours (Arabic to Syriac, India, Mongolia) and tie emoji
# together. Anywhere else, and behind one another, they are ink that nobody sees.
_SHAPED = (
    "\u0600-\u0fff\u1000-\u109f\u1780-\u18af\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff"
    "\U0001e900-\U0001e95f"
)
_PICTURE = "\u00a9\u00ae\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_USELESS_JOINER = re.compile(
    f"(?<![{_SHAPED}])\u200c|(?<![{_SHAPED}{_PICTURE}\ufe0e\ufe0f])\u200d|(?<=[{_PICTURE}\ufe0e\ufe0f])\u200d(?![{_PICTURE}])"
)


def escape_text(text: str) -> str:
    """Makes the text unable to open or close anything around it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def neutralise_text(text: str) -> str:
    """Removes what a reader would not see: controls, marks of writing direction, tag characters, useless joiners."""
    if text.isascii() and text.isprintable():
        return text
    selected = _SELECTORS.sub(r"\1", _UNSEEN.sub("", text))
    return _USELESS_JOINER.sub("", _USELESS_SELECTOR.sub("", selected))


def indent_lines(text: str) -> str:
    """Continues every line after a break of any kind under its first, indented."""
    return _BREAK.sub(f"\n{INDENT}", text)


def quote_text(text: str) -> str:
    """Returns a stored text as it may stand in a prompt: seen, escaped, and inside its own line."""
    return escape_text(indent_lines(neutralise_text(text)))


def quote_reference(reference: str) -> str:
    """Returns the name of something as it may stand inside a line's brackets, on one line."""
    seen = " ".join(neutralise_text(reference).split())
    return escape_text(seen).replace("[", "%5B").replace("]", "%5D")
