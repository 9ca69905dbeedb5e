"""How likely a turn is worth keeping by what its words say, for languages that the learned worth does not know.

An embedding model of English hardly tells turns of other languages apart. What is left is in the words: whether
somebody speaks of himself, states what lasts, names a number, a date or a name, or only thanks, greets, asks and begs.
"""

import math
import re
from typing import Final, NamedTuple

from lithify.memory.languages import Language, names_month, normalise
from lithify.memory.languages.writing import MARKS

# A statement must bring two or three of these to be worth keeping. Set by reason and checked on turns of our own in
# twelve languages; a second batch was written after them (docs/languages.md).
FACT: Final = 1.8  # the first phrase of a fact
FURTHER_FACT: Final = 0.6
OWN: Final = 0.8  # of the first person
CONCRETE: Final = 0.9  # a number, a date or a name
CONTENT: Final = 0.4  # for each word that is neither a function word nor chatter
MOST_CONTENT: Final = 5
NEEDED: Final = 2.6
ASKING: Final = 2.4
BEGGING: Final = 1.6
CHATTING: Final = 0.5
MOST_CHATTER: Final = 3
# Between a plain fact and plain chatter there shall be little that novelty decides: it is measured by the same model.
STEEPNESS: Final = 2.5
LOOKED_AT: Final = 4000  # characters
DENSE: Final = 2  # characters of an unspaced script that make a word

_SENTENCE: Final = re.compile(r"(?<=[.!?…।؟])\s+|(?<=[。！？])|\n+")
_WORD: Final = re.compile(rf"[^\W\d_][\w{MARKS}'-]*")
_DENSE_LETTER: Final = re.compile(r"[\u30a1-\u30fa\u4e00-\u9fff\u3400-\u4dbf]")
_NUMBER: Final = re.compile(r"\d")
_MARK: Final = re.compile(r"[?？؟]\s*$|^\s*¿")
_LATIN_NAME: Final = re.compile(r"\b[A-Z][A-Za-z]+")


class SpokenEvidence(NamedTuple):
    """What one sentence says by its words."""

    facts: int
    is_own: bool
    is_concrete: bool
    content: float
    asks: bool
    begs: bool
    chatter: int


def weigh_words(text: str, language: Language | None) -> float:
    """Returns a worth in [0, 1]: that of the sentence that says most. Without a language, little but numbers counts."""
    sentences = [sentence for sentence in _SENTENCE.split(text[:LOOKED_AT]) if sentence.strip()]
    return max((weigh_evidence(read_evidence(one, language)) for one in sentences), default=0.0)


def weigh_evidence(found: SpokenEvidence) -> float:
    said = FACT * (found.facts > 0) + FURTHER_FACT * (found.facts > 1) + OWN * found.is_own
    said += CONCRETE * found.is_concrete + CONTENT * min(found.content, MOST_CONTENT)
    empty = ASKING * found.asks + BEGGING * found.begs + CHATTING * min(found.chatter, MOST_CHATTER)
    return 1.0 / (1.0 + math.exp(-STEEPNESS * (said - empty - NEEDED)))


def read_evidence(sentence: str, language: Language | None) -> SpokenEvidence:
    normal = normalise(sentence)
    if language is None:
        content = len(_WORD.findall(normal))
        is_concrete = _NUMBER.search(normal) is not None or _has_inner_capital(sentence)
        return SpokenEvidence(0, False, is_concrete, content, _MARK.search(sentence) is not None, False, 0)
    return SpokenEvidence(
        facts=language.count("gate.facts", normal),
        is_own=language.finds("self.words", normal),
        is_concrete=_is_concrete(sentence, normal, language),
        content=_count_content(normal, language),
        asks=_asks(sentence, normal, language),
        begs=language.finds("gate.requests", normal),
        chatter=language.count("gate.chatter", normal),
    )


def _asks(sentence: str, normal: str, language: Language) -> bool:
    if _MARK.search(sentence):
        return True
    endings = language.phrases.get("questions.endings", ())
    return bool(endings) and normal.rstrip(" .。!！").endswith(endings)


def _is_concrete(sentence: str, normal: str, language: Language) -> bool:
    if _NUMBER.search(normal) or language.finds("dates.weekdays", normal) or language.finds("dates.relative", normal):
        return True
    if names_month(normal, language):
        return True
    return _names_somebody(sentence, language) or language.finds("gate.names", normal)


def _names_somebody(sentence: str, language: Language) -> bool:
    """Returns whether a name stands in a sentence: written with a capital, where only names and first words are."""
    if language.capitals == "none":
        return _LATIN_NAME.search(sentence) is not None
    return language.capitals == "names" and _has_inner_capital(sentence)


def _has_inner_capital(sentence: str) -> bool:
    return any(word[0].isupper() and not word.isupper() for word in _WORD.findall(sentence)[1:])


def _count_content(normal: str, language: Language) -> float:
    """Counts words that are neither function words nor chatter."""
    rest = language.leave_out("gate.chatter", language.leave_out("gate.requests", normal))
    if language.spacing == "none":
        for word in sorted(language.stop_words, key=len, reverse=True):
            rest = rest.replace(word, " ")
        return len(_DENSE_LETTER.findall(rest)) / DENSE
    return len([word for word in _WORD.findall(rest) if word not in language.stop_words])
