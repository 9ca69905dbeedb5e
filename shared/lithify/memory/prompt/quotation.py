"""Stored words as a prompt may show them: unable to leave their line's place, to hide, or to turn the text around."""

import re
from typing import Final

INDENT: Final = "  "
"""Opens every line of a text but its first, so that no stored line can begin like a frame."""

_BREAK = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Controls, and what is written but not seen: bidi marks, joiners of nothing, tag characters. The joiners of emoji and
# of Persian stay, and so do tabs.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
# One selects a form of the character before it; a run of them carries a hidden text.
_SELECTORS = re.compile("([\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")


def escape_text(text: str) -> str:
    """Makes the text unable to open or close anything around it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def neutralise_text(text: str) -> str:
    """Removes what a reader would not see: controls, marks of writing direction, tag characters."""
    if text.isascii() and text.isprintable():
        return text
    return _SELECTORS.sub(r"\1", _UNSEEN.sub("", text))


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
