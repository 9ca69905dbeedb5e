"""A text as ASCII words that remember what stood between them, the only view the deontic rules have."""

import re
from dataclasses import dataclass

_WORD = re.compile(r"[A-Za-z]+")
_BLANKS = " \t\r\f\v\u00a0"  # a newline is not blank here: it starts a sentence
_SENTENCE_ENDS = frozenset("\n.!?:;")
_HARD_ENDS = frozenset("\n.")


@dataclass(frozen=True, slots=True)
class Word:
    """It is a maximal run of ASCII letters; digits and other scripts split words."""

    text: str  # lower case
    is_capital: bool  # every letter is upper case
    before: str  # what separates it from the previous word
    after: str
    starts_sentence: bool
    starts_hard: bool  # opens the text or follows a full stop or newline

    def follows(self, marks: str) -> bool:
        """Returns whether the last non-blank character before the word is one of these marks."""
        gap = self.before.rstrip(_BLANKS)
        return bool(gap) and gap[-1] in marks

    def precedes(self, mark: str) -> bool:
        return self.after.lstrip(_BLANKS).startswith(mark)


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one text; asking beyond its ends gives the empty word, never an error."""

    words: tuple[Word, ...]
    texts: tuple[str, ...]

    def text(self, index: int) -> str:
        return self.texts[index] if 0 <= index < len(self.texts) else ""

    def span(self, start: int, length: int) -> range:
        """Returns the indexes of up to `length` words from `start`."""
        return range(start, min(start + length, len(self.words)))

    def reads(self, index: int, *phrase: str) -> bool:
        # A negative index gives a slice shorter than the phrase, hence False.
        return self.texts[index : index + len(phrase)] == phrase


def read_wording(text: str) -> Wording:
    matches = list(_WORD.finditer(text))
    starts = [*(match.start() for match in matches), len(text)]
    ends = [0, *(match.end() for match in matches)]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    words = tuple(_word(match, gaps[i], gaps[i + 1]) for i, match in enumerate(matches))
    return Wording(words, tuple(word.text for word in words))


def _word(match: re.Match[str], before: str, after: str) -> Word:
    gap = before.rstrip(_BLANKS)
    opens = match.start() == len(before) and not gap
    return Word(
        text=match[0].lower(),
        is_capital=match[0].isupper(),
        before=before,
        after=after,
        starts_sentence=opens or gap[-1:] in _SENTENCE_ENDS,
        starts_hard=opens or gap[-1:] in _HARD_ENDS,
    )
