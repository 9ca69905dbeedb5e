"""What kind of words a question is made of: names that are written in one way only, or words that could be others."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lithify.memory.lexical.analyser import LexicalAnalyser

# A name counts as much as so many plain words: who writes one means that very thing, however long the rest is.
EXACT_WEIGHT: Final = 4.0

# Latin, Greek and Cyrillic: where words are not spaced, a run that holds a number would swallow its sentence.
_LETTERS: Final = r"0-9A-Za-z_\u00aa-\u052f"
_WORD = re.compile(rf"(?<![{_LETTERS}-])(?:--?)?[{_LETTERS}]+(?:[-./:@']+[{_LETTERS}]+)*")
_QUOTED = re.compile(r"(?<!`)`+([^`\n]+)`+")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")  # readLevel, HTTPServer; not URLs
_COUNT = re.compile(r"\d{1,2}|\d+(?:st|nd|rd|th|s)")  # 12, 3rd, 1990s: said in passing more often than meant exactly


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """`exact` are the names in a question, each once; `plain` is how many other words it has."""

    exact: tuple[str, ...] = ()
    plain: int = 0

    @property
    def weight(self) -> float:
        """Returns how many plain words the question is worth."""
        return EXACT_WEIGHT * len(self.exact) + self.plain

    @property
    def exact_share(self) -> float:
        """Returns how far it asks for something exact: 0 is prose, 1 nothing but names."""
        return EXACT_WEIGHT * len(self.exact) / self.weight if self.exact else 0.0


NO_TERMS: Final = QuestionTerms()


def read_terms(text: str, analyser: LexicalAnalyser) -> QuestionTerms:
    """Tells the names of a question from its other words; what cannot be searched for is neither."""
    exact = tuple(name for name in dict.fromkeys(_find_names(text)) if analyser.tokens(name))
    known = frozenset(exact)
    rest = _WORD.sub(lambda word: " " if word[0] in known else word[0], text)
    return QuestionTerms(exact, len(set(analyser.tokens(rest))))


def is_exact(word: str) -> bool:
    """Says whether a word is a name by its form: an identifier, option, path, date, code, hash or address."""
    if word.startswith("-") or "_" in word or "@" in word or "::" in word or _HUMP.search(word):
        return True
    if any(letter.isdigit() for letter in word):
        return not _COUNT.fullmatch(word)
    if "/" in word:
        return word.count("/") > 1 or "." in word  # not either/or
    return any(len(part) > 1 for part in word.split(".")) and "." in word  # not e.g


def _find_names(text: str) -> Iterator[str]:
    for quote in _QUOTED.finditer(text):
        yield from _WORD.findall(quote[1])
    yield from filter(is_exact, _WORD.findall(_QUOTED.sub(" ", text)))
