"""Turns text into the sparse vectors of the lexical leg; the store multiplies the IDF in at query time."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from itertools import chain
from typing import Final, TypeGuard

import Stemmer

from lithify.memory.languages import Language, LanguageDetector, load_detector
from lithify.memory.languages.writing import MARKS
from lithify.memory.lexical.foreign_words import MAX_WORD, Stemmers, fold_words, make_foreign_terms, month_terms
from lithify.memory.lexical.word_lists import BASE_FORMS, STOP_WORDS
from lithify.memory.normal_form import normalise_form

SparseVector = tuple[list[int], list[float]]  # indices, values

# Best of a small sweep on conversations: turns are short, so repetition saturates early and length says little.
K1 = 0.9
B = 0.3
# Mean number of search tokens of a turn with its date; lengths are normalised by it.
AVERAGE_TOKENS = 17.0

# Distinct terms of one vector; a text of fifty pages has about so many. Long turns are found by their pieces, too.
MAX_TERMS: Final = 4_096
# Characters that are read of a text. The greatest turn has as many; one ligature may stand for eighteen of them.
MAX_CHARS: Final = 262_144
# Characters that are read of a question, some 3,000 words: it is analysed while everybody else waits.
MAX_QUESTION_CHARS: Final = 16_384

# Thai, Lao, Burmese, Khmer, kana, Han, Hangul: a run is not one word, and only a dictionary could cut it into words.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_CHUNK = re.compile(rf"[\w{MARKS}]+(?:[-./:@'][\w{MARKS}]+)*")
_RUN = re.compile(rf"([{_UNSPACED}]+)|([^{_UNSPACED}]+)")
_SEPARATOR = re.compile(r"[-./:@'_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # rate|Limit, HTTP|Server
_IDENTIFIER = re.compile(r"\w[_/@.]\w")  # a name of this form is of no language
# Not by strftime: its names follow the locale, and stored words must be the same on every machine.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


class LexicalAnalyser:
    """Cuts text into search tokens and weighs them; one instance may serve many threads.

    A text is stemmed by its own language, and in ``language`` where it says too little to tell.
    """

    def __init__(self, language: str = "english", detector: LanguageDetector | None = None) -> None:
        if language not in Stemmer.algorithms():
            raise ValueError(f"no stemmer for {language!r}; known are {', '.join(Stemmer.algorithms())}")
        self._language = language
        self._detector = detector or load_detector()
        self._stemmers = Stemmers()

    def tokens(self, text: str) -> list[str]:
        """Returns stems, identifiers whole and in parts, and bigrams of unspaced scripts, in reading order."""
        read, words = _read_words(text, MAX_CHARS)
        language = self._detector.detect_words(read, words)
        return self._stem_foreign(words, language)[0] if self._is_foreign(language) else self._stem_plain(words)

    def document_vector(
        self, text: str, average_length: float, k1: float = K1, b: float = B, extra: Iterable[str] = ()
    ) -> SparseVector:
        """Returns BM25 term-frequency weights; ``average_length`` is the mean token count of the collection.

        ``extra`` are tokens by which the text is to be found besides its own. Other spellings of its words are further
        dimensions, but make the text no longer. Of more than MAX_TERMS the heaviest count, the first of equal ones.
        """
        _require_domain(average_length, k1, b)
        read, words = _read_words(text, MAX_CHARS)
        tokens, spellings = self._spell(read, words, self._detector.detect_words(read, words))
        counts = Counter(chain(tokens, extra))
        penalty = k1 * (1.0 - b + b * counts.total() / average_length)
        counts.update(spellings)
        return _sparse({token: tf * (k1 + 1.0) / (tf + penalty) for token, tf in counts.items()})

    def query_vector(self, text: str, extra: Iterable[str] = ()) -> SparseVector:
        """Gives weight 1 to each distinct token, however often the question repeats it.

        A question is often too short to tell its language: it also looks for the stems of those it may be in. Of one
        longer than MAX_QUESTION_CHARS the beginning and the end are read.
        """
        read, words = _read_words(text, MAX_QUESTION_CHARS)
        language = self._detector.detect_words(read, words)
        tokens, spellings = self._spell(read, words, language)
        guesses = self._guess(read, words, language)
        return _sparse(dict.fromkeys(chain(tokens, spellings, guesses, extra), 1.0))

    def _is_foreign(self, language: Language | None) -> TypeGuard[Language]:
        """Returns whether a language has a stemmer of its own."""
        return language is not None and language.stemmer not in (None, self._language)

    def _spell(self, text: str, words: list[str], language: Language | None) -> tuple[list[str], list[str]]:
        """Returns the tokens of a text, and the other spellings by which it is found."""
        if self._is_foreign(language):
            return self._stem_foreign(words, language)
        tokens = self._stem_plain(words)
        if text.isascii():
            return tokens, []
        return tokens, [*fold_words(words), *self._stem_plain(month_terms(text, language))]

    def _guess(self, text: str, words: list[str], language: Language | None) -> list[str]:
        """Returns what a question may mean besides: in English if it is foreign, in other languages if it is unsure."""
        if language is not None:
            return self._stem_plain(words) if self._is_foreign(language) else []
        if _IDENTIFIER.search(text):
            return []
        possible = self._detector.find_possible(text, words)
        guesses = [self._stem_foreign(words, one) for one in possible if self._is_foreign(one)]
        terms = [term for tokens, spellings in guesses for term in (*tokens, *spellings)]
        plain = [word for word in words if word not in STOP_WORDS]
        return [*plain, *terms, *self._stem_plain(month_terms(text, language))]

    def _stem_plain(self, words: Iterable[str]) -> list[str]:
        stem = self._stemmers.find(self._language)
        return [
            stem(BASE_FORMS.get(word, word)) if word.isalpha() and len(word) <= MAX_WORD else word
            for word in words
            if word not in STOP_WORDS
        ]

    def _stem_foreign(self, words: Iterable[str], language: Language) -> tuple[list[str], list[str]]:
        stem = self._stemmers.find(language.stemmer or self._language)
        return make_foreign_terms(words, language, stem, self._stemmers.find(self._language))


def token_index(token: str) -> int:
    """Returns the token's dimension, an unsigned 32-bit number that is the same on every machine."""
    digest = blake2b(token.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big")


@cache
def date_dimensions() -> frozenset[int]:
    """Returns the dimensions that dates add to texts: days, months and the years of a century."""
    days = " ".join(map(str, range(1, 32)))
    years = " ".join(map(str, range(1990, 2091)))
    return frozenset(map(token_index, LexicalAnalyser().tokens(f"{days} {' '.join(_MONTHS)} {years}")))


def keep_heaviest(weights: Mapping[int, float]) -> Mapping[int, float]:
    """Returns no more than MAX_TERMS of the weights: the greatest, and of equal ones the first."""
    if len(weights) <= MAX_TERMS:
        return weights
    return dict(sorted(weights.items(), key=lambda pair: -pair[1])[:MAX_TERMS])


def _read_words(text: str, most: int) -> tuple[str, list[str]]:
    """Returns what is read of a text, and the words of it."""
    read = _clip(text, most)
    return read, _cut(read, most)


def _clip(text: str, most: int) -> str:
    """Leaves the middle of a text out that is too long: what is asked stands before or behind what is quoted."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}\n{text[-half:]}"


def _cut(text: str, most: int) -> list[str]:
    """Returns the words of a text in lower case, stop words among them."""
    if not text.isascii():
        return [word for chunk in _chunks(text, most) for word in _words(chunk)]
    words: list[str] = []
    for chunk in _CHUNK.findall(text):
        if chunk.islower() and chunk.isalpha():  # most chunks, and without a call
            words.append(chunk)
        else:
            words += _spaced_words(chunk)
    return words


def _chunks(text: str, most: int) -> list[str]:
    return _CHUNK.findall(_clip(normalise_form("NFKC", text), most).replace("’", "'"))


def _words(chunk: str) -> Iterable[str]:
    if chunk.isascii():
        return _spaced_words(chunk)
    runs = _RUN.findall(chunk)
    return chain.from_iterable(_bigrams(unspaced) if unspaced else _spaced_words(rest) for unspaced, rest in runs)


def _spaced_words(chunk: str) -> list[str]:
    """Returns the chunk whole and, if it is an identifier, a path, a date or a compound, its parts."""
    bare = chunk.removesuffix("'s")
    whole = bare.lower()
    if bare[1:] == whole[1:] and whole.isalnum():
        return [whole]
    parts = [part.lower() for piece in _SEPARATOR.split(bare) for part in _HUMP.split(piece) if part]
    if not parts or whole in STOP_WORDS:
        return []
    return [whole] if parts == [whole] else [whole, *parts]


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _sparse(weights: Mapping[str, float]) -> SparseVector:
    """Sorts by index; two tokens that share one add up, as the store wants each index once."""
    by_index: dict[int, float] = {}
    for token, weight in weights.items():
        index = token_index(token)
        by_index[index] = by_index.get(index, 0.0) + weight
    kept = keep_heaviest(by_index)
    indices = sorted(kept)
    return indices, [kept[index] for index in indices]


def _require_domain(average_length: float, k1: float, b: float) -> None:
    if not (math.isfinite(average_length) and average_length > 0.0):
        raise ValueError(f"the average length must be a positive number of tokens, got {average_length}")
    if not (math.isfinite(k1) and k1 >= 0.0 and 0.0 <= b <= 1.0):
        raise ValueError(f"BM25 needs k1 >= 0 and b in [0, 1], got k1={k1} and b={b}")


def searchable_text(text: str, ts_ms: int) -> str:
    """Adds the date in words, as questions name it: "what happened on 8 May 2023".

    Worth two points of BM25 recall on conversations. A time that no calendar holds adds nothing.
    """
    try:
        day = datetime.fromtimestamp(ts_ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return text
    return f"{text} {day.day} {_MONTHS[day.month - 1]} {day.year}"
