"""Makes search terms of words that are not English: stems of their language, and other spellings of the same words."""

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final

import Stemmer

from lithify.memory.languages import (
    ENGLISH,
    Language,
    english_month,
    find_months,
    fold_accents,
    load_languages,
    normalise_arabic,
)

Stem = Callable[[str], str]

# Shorter names of months are words of other languages, too.
_LONG_NAME: Final = 4
# No word of any language is longer; what is has no stem, and is found as it stands.
MAX_WORD: Final = 64
_ARABIC: Final = re.compile(r"[\u0600-\u06ff]")
_JOINED: Final = re.compile(r"[\d\-./:@'_]")


class Stemmers:
    """Holds the Snowball stemmers of each thread: one must not be used by two threads at once."""

    def __init__(self) -> None:
        self._per_thread = threading.local()

    def find(self, name: str) -> Stem:
        stems: dict[str, Stem] = self._per_thread.__dict__
        if name not in stems:
            # Without its cache, which keeps ten thousand words of whatever people say: stemming costs as little.
            stems[name] = Stemmer.Stemmer(name, 0).stemWord
        return stems[name]


def make_foreign_terms(
    words: Iterable[str], language: Language, stem: Stem, stem_english: Stem
) -> tuple[list[str], list[str]]:
    """Returns one token for each word that says something, and further spellings by which the same word is found.

    A spelling is the whole word without accents, and of a month its English name: turns are dated by it.
    """
    tokens: list[str] = []
    spellings: list[str] = []
    for word in words:
        plain = normalise_arabic(word) if _ARABIC.match(word) else word
        if plain in language.stop_words or "'" in plain:
            continue
        token, others = _make_term(plain, language, stem, stem_english)
        tokens.append(token)
        spellings.extend(other for other in others if other != token)
    return tokens, spellings


def _make_term(word: str, language: Language, stem: Stem, stem_english: Stem) -> tuple[str, tuple[str, ...]]:
    if len(word) > MAX_WORD or _JOINED.search(word):
        return word, ()
    if word in language.months:
        return stem(word), (fold_accents(word), stem_english(english_month(language.months[word])))
    if word in load_languages()[ENGLISH].months:
        return stem_english(word), ()
    return stem(language.forms.get(word, word)), (fold_accents(word),)


def fold_words(words: Iterable[str]) -> Iterator[str]:
    """Yields those of the words that have accents without them."""
    return (folded for word in words if len(word) <= MAX_WORD and (folded := fold_accents(word)) != word)


def month_terms(text: str, language: Language | None) -> list[str]:
    """Returns the English names of the months that a text of an unspaced script, or of unsure language, names."""
    if language is None:
        names = _latin_months()
        return [names[word] for word in re.findall(r"[^\W\d_]+", text.lower()) if word in names]
    return [] if language.spacing == "words" else [english_month(month) for month in find_months(text, language)]


@cache
def _latin_months() -> dict[str, str]:
    """Returns the English names of months by those of the other Latin languages."""
    english = load_languages()[ENGLISH].months
    others = (one for one in load_languages().values() if one.scripts[0] == "Latin" and one.code != ENGLISH)
    return {
        name: english_month(number)
        for language in others
        for name, number in language.months.items()
        if len(name) >= _LONG_NAME and name not in english
    }
