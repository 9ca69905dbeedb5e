"""The host token estimator: the only one that may appear in budget arithmetic (spec 02 §3)."""

import math
import re

# Order matters: one CJK or Hangul character decides for the whole string, then the denser alphabets.
_CJK = re.compile(r"[\u4e00-\u9faf\u3041-\u3096\u30a1-\u30fa\uac00-\ud7a3]")
_DENSE_ALPHABET = re.compile(r"[\u0400-\u04ff\u0600-\u06ff\u0590-\u05ff]")  # Cyrillic, Arabic, Hebrew

CHARS_PER_TOKEN_CJK = 1.6
CHARS_PER_TOKEN_DENSE = 2.5
CHARS_PER_TOKEN = 4.0


def chars_per_token(text: str) -> float:
    """χ of the text; over-counts mixed scripts, which is the safe direction."""
    if _CJK.search(text):
        return CHARS_PER_TOKEN_CJK
    if _DENSE_ALPHABET.search(text):
        return CHARS_PER_TOKEN_DENSE
    return CHARS_PER_TOKEN


def estimate_tokens(text: str) -> int:
    """Code points, not UTF-16 units (X12). The empty text costs nothing."""
    return math.ceil(len(text) / chars_per_token(text))
