"""The words of a query and of a memory, compared literally in the second pass (spec 08 §3)."""

import re
from collections.abc import Sequence

MIN_KEYWORD = 3

# Scripts written without spaces between words: Han, kana, Hangul, with their extensions and half-width forms.
_CJK = (
    r"\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003134f"
)
# Either one run of such characters or one run of other word characters; both end where the script changes.
_RUN = re.compile(rf"([{_CJK}]+)|[^\W{_CJK}]+")
_CJK_RUN = re.compile(rf"[{_CJK}]{{2,}}")
_ASCII_WORDS = bytes.maketrans(
    bytes(range(128)),
    bytes(ord(chr(c).lower()) if chr(c).isalnum() or chr(c) == "_" else ord(" ") for c in range(128)),
)


def words(text: str) -> list[str]:
    """All words in lower case, in order, repeats included."""
    if text.isascii():  # most text, and three times as fast as the pattern
        return text.encode("ascii").translate(_ASCII_WORDS).decode("ascii").split()
    return [word for run in _RUN.finditer(text.lower()) for word in _cut(run)]


def keywords(query: str) -> tuple[str, ...]:
    """K: the distinct words of three or more characters in order of appearance; CJK bigrams are kept."""
    distinct = dict.fromkeys(words(query))
    return tuple(word for word in distinct if len(word) >= MIN_KEYWORD or _CJK_RUN.fullmatch(word))


def _cut(run: re.Match[str]) -> Sequence[str]:
    """A run of two or more CJK characters is cut into overlapping pairs."""
    word = run.group()
    if run.group(1) is None or len(word) == 1:
        return (word,)
    return [word[i : i + 2] for i in range(len(word) - 1)]
