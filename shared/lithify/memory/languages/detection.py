"""Tells the language of a text: by its script, and among languages of one script by their words.

A library would be the other way. Those that work without a network are made for paragraphs, ship models of 1 to 100 MB
and take 50 to 500 microseconds a text; the words that are in the data files anyway do as well on turns of a chat.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Final

from lithify.memory.languages.language import ENGLISH, Language, load_languages
from lithify.memory.languages.writing import LATIN, LOOKED_AT, find_script, normalise

# A word that one language has counts 1, one that several share counts a part of it for each.
LEAST: Final = 1.0
MARGIN: Final = 1.4  # how much more the best language needs than the second
SHARE: Final = 0.2  # of the distinct words must be the language's
FEW: Final = 3  # words in which one of the language is enough, if it is long
LONG: Final = 4
LETTER: Final = 1.0  # what a letter counts that few languages write
_POSSIBLE: Final = 0.5  # of the best score makes a language possible
SHORT: Final = 200  # characters up to which a text may be in a language it hardly tells

_WORD: Final = re.compile(r"[^\W\d_]+")


class LanguageDetector:
    """Tells languages apart by what their files say; it holds no state and may serve many threads."""

    def __init__(self, languages: Mapping[str, Language]) -> None:
        self._by_script: defaultdict[str, list[Language]] = defaultdict(list)
        self._told_by: defaultdict[str, defaultdict[str, list[Language]]] = defaultdict(lambda: defaultdict(list))
        self._written_by: defaultdict[str, list[Language]] = defaultdict(list)
        for language in languages.values():
            self._add(language)
        english = languages[ENGLISH].vocabulary if ENGLISH in languages else frozenset()
        others = [one for one in self._by_script[LATIN] if one.code != ENGLISH]
        foreign = frozenset(word for one in others for word in one.vocabulary)
        self._english = languages.get(ENGLISH)
        self._only_english = english - foreign
        self._only_foreign = foreign - english

    def _add(self, language: Language) -> None:
        script = language.scripts[0]
        self._by_script[script].append(language)
        for word in language.vocabulary:
            self._told_by[script][word].append(language)
        for letter in language.letters:
            self._written_by[letter].append(language)

    def detect(self, text: str) -> Language | None:
        """Returns the language of a text; None if it says too little, or is in a script of which no file is."""
        return self.detect_words(text, _cut_words(text))

    def detect_words(self, text: str, words: Collection[str]) -> Language | None:
        """Does the same for a text whose words, in lower case, are known already."""
        if text.isascii() and self._is_plainly_english(words):
            return self._english
        script = find_script(text)
        spoken = self._by_script.get(script or "", [])
        if len(spoken) < 2:
            return spoken[0] if spoken else None
        seen = set(words)
        best = _choose(self._score(text, seen, script or ""))
        return best if best is None or self._is_enough(best, seen) else None

    def find_possible(self, text: str, words: Collection[str]) -> tuple[Language, ...]:
        """Returns the languages that a text of unsure language may be in, English aside; none if nothing tells."""
        script = find_script(text)
        if script is None or len(self._by_script.get(script, ())) < 2:
            return ()
        scores = self._score(text, set(words), script)
        best = max(scores.values(), default=0.0)
        return tuple(one for one, score in scores.items() if one.code != ENGLISH and score >= _POSSIBLE * best)

    def find_readings(self, text: str) -> tuple[Language, ...]:
        """Returns the languages in which the cues of a text are to be read, the likeliest first.

        A language that is sure is read alone: the German "was" is no English verb. One of another script is read beside
        English, in whose letters its English words stand. A short text of unsure language is read in all it may be in.
        """
        words = _cut_words(text)
        language = self.detect_words(text, words)
        english = () if self._english is None else (self._english,)
        if language is None:
            return self._guess_readings(text, set(words)) if len(text) <= SHORT else english
        if language is self._english or language.scripts[0] == LATIN:
            return (language,)
        return (language, *english)

    def _guess_readings(self, text: str, seen: set[str]) -> tuple[Language, ...]:
        """Returns English and the languages that a short text may be in; English not where another is far likelier."""
        scores = self._score(text, seen, find_script(text) or "")
        best = max(scores.values(), default=0.0)
        english = 0.0 if self._english is None else scores.pop(self._english, 0.0)
        possible = tuple(one for one, score in scores.items() if score >= _POSSIBLE * best)
        if self._english is None or (possible and best >= LEAST and best >= MARGIN * english):
            return possible
        return (self._english, *possible)

    def _score(self, text: str, seen: set[str], script: str) -> dict[Language, float]:
        scores: defaultdict[Language, float] = defaultdict(float)
        told_by = self._told_by[script]
        for word in told_by.keys() & seen:
            _share_out(scores, told_by[word], 1.0)
        if not text.isascii():
            for letter in self._written_by.keys() & set(text[:LOOKED_AT].lower()):
                _share_out(scores, self._written_by[letter], LETTER)
        return scores

    def _is_plainly_english(self, words: Collection[str]) -> bool:
        """Spares most texts the counting: nothing else could come out of it."""
        plain = len(self._only_english.intersection(words))
        return plain >= 2 and plain >= 2 + len(self._only_foreign.intersection(words))

    def _is_enough(self, language: Language, seen: set[str]) -> bool:
        """Returns whether a text has so many words of a language that they are no names or quotations."""
        if language.code == ENGLISH:
            return True
        found = language.vocabulary & seen
        alone = len(seen) <= FEW and any(len(word) >= LONG for word in found)
        return (len(found) >= 2 or alone) and len(found) >= SHARE * len(seen)


@cache
def load_detector() -> LanguageDetector:
    return LanguageDetector(load_languages())


def detect_language(text: str) -> Language | None:
    """Returns the language of a text among the shipped ones; None if unsure, which counts as English for search."""
    return load_detector().detect(text)


def detect_foreign(text: str) -> Language | None:
    """Returns the language of a text unless it is English or unsure."""
    language = detect_language(text)
    return None if language is None or language.code == ENGLISH else language


def is_foreign(text: str) -> bool:
    """Returns whether a text is plainly not English: of another language, or of a script that English has not."""
    language = detect_language(text)
    return language.code != ENGLISH if language is not None else find_script(text) not in (None, LATIN)


def _cut_words(text: str) -> list[str]:
    return _WORD.findall(normalise(text[:LOOKED_AT]))


def _share_out(scores: dict[Language, float], languages: Iterable[Language], amount: float) -> None:
    among = [*languages]
    for language in among:
        scores[language] += amount / len(among)


def _choose(scores: Mapping[Language, float]) -> Language | None:
    """Returns the language that is told by most, if it stands out."""
    ranked = sorted(scores.items(), key=lambda pair: -pair[1])
    if not ranked:
        return None
    best, score = ranked[0]
    second = ranked[1][1] if len(ranked) > 1 else 0.0
    return None if score < LEAST or score < MARGIN * second else best
