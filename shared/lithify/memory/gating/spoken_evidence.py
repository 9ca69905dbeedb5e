"""How likely a turn is worth keeping by what its words say, whatever the embedding model knows of its language.

Facts are without number, and what is none is said in few ways: people thank, greet, react, ask, beg and paste. So a
statement counts that is none of these, the more if somebody speaks of himself, names a number, a date or a name, or
uses a word of what lasts. The words are in the language files.
"""

import math
import re
from typing import Final, NamedTuple

from lithify.memory.languages import Language, names_month, normalise
from lithify.memory.languages.writing import MARKS

MOST_CONTENT: Final = 6
STATEMENT: Final = 2  # words from which on something is stated
MOST_CHATTER: Final = 3
# There is little between a plain fact and plain chatter.
STEEPNESS: Final = 2.5
LOOKED_AT: Final = 4000  # characters
DENSE: Final = 2  # characters of an unspaced script that make a word

_SENTENCE: Final = re.compile(r"(?<=[.!?…।؟])\s+|(?<=[。！？])|\n+")
_WORD: Final = re.compile(rf"[^\W\d_][\w{MARKS}'-]*")
_DENSE_RUN: Final = re.compile(r"[\u30a1-\u30fa\u4e00-\u9fff\u3400-\u4dbf]+")
_NUMBER: Final = re.compile(r"\d")
_MARK: Final = re.compile(r"[?？؟]\s*$|^\s*¿")
_EDGES: Final = " \t.,!?;:¡¿。、！？…।؟،-–—\"'«»“”„()"
_CLAUSE_END: Final = re.compile(r"[,;:–—、，،](?!\d)")
_LATIN_NAME: Final = re.compile(r"\b[A-Z][A-Za-z]+")
# Code, logs and markup look alike in every language.
_PASTED: Final = re.compile(
    r"""
      ^[\ \t]*+(?:\[?\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d|\d\d:\d\d:\d\d[\s.,])
    | \b(?:ERROR|WARN|WARNING|FATAL|DEBUG|INFO|TRACE|CRITICAL|ERR!)(?!\w)
    | \b\w{2,40}(?:Error|Exception)(?=:|\s+at\s) | ^Traceback\b | ^[\ \t]*+at\s\S{1,80}[(:] | \bat\s[\w$.]{3,80}\(
    | [;{}][\ \t]*+$ | =>\s | [=!<>]=\s | \w\([^\s()]{0,40}\)(?:[;{\n]|\.\w) | \w\(\w{1,20}\( | \w\[\w{1,20}\]
    | </?\w{1,20}[^<>]{0,80}>
    | ^[\ \t]*+(?:(?:def|function)\s\w{0,40}\(|class\s\w{1,40}[:({]|(?:const|let|var)\s\w{1,40}\s=)
    | ^[\ \t]*+from\s\S{1,80}\simport\s
    | ^[\ \t]*+(?:import\s[\w.]{1,80}(?:\sas\s|$)|(?:public|private)\s(?:static|class|void|final)\s|\#include\s)
    | ^[\ \t]*+(?:SELECT|INSERT|UPDATE|DELETE|CREATE)\s\S
    | ^(?:[\ \t]*+[\w.-]{1,30}:(?:[\ \t][^\n]{0,80})?\n){2} | \s--[a-z][a-z-]{2,30}
    | ^[\ \t]*+[$>]\s\w | ^(?:diff|@@|\+\+\+|---)\s | \bfatal:\s | ^\w{2,20}:\s[Ee]rror\b
    | \bHTTP(?:/\d\.\d)?\s[1-5]\d\d\b
    """,
    re.MULTILINE | re.VERBOSE,
)


class SpokenEvidence(NamedTuple):
    """What one sentence says by its words; each is between 0 and 1."""

    facts: float = 0.0  # it has a phrase of what lasts
    further_facts: float = 0.0  # it has several
    own: float = 0.0  # somebody speaks of himself
    concrete: float = 0.0  # a number, a date or a name
    lasting: float = 0.0  # always, never, from now on
    content: float = 0.0  # words that are neither function words nor chatter
    stated: float = 0.0  # there are at least two of them
    empty: float = 0.0  # there is none
    asks: float = 0.0
    begs: float = 0.0
    chatter: float = 0.0
    passing: float = 0.0  # now, today, so much
    to_you: float = 0.0  # it speaks of who listens
    pasted: float = 0.0


# Fitted by logistic regression on turns of our own in twelve languages. Each counted for a fifth without its phrases of
# facts, and for a fifth without those of chatter and requests: lists of words are never complete (docs/gating.md). What
# was pasted weighs a little more than fitted.
WEIGHTS: Final = SpokenEvidence(
    facts=1.6,
    further_facts=0.8,
    own=1.3,
    concrete=0.8,
    lasting=0.9,
    content=1.8,
    stated=0.95,
    empty=-1.05,
    asks=-3.5,
    begs=-5.2,
    chatter=-1.6,
    passing=-1.2,
    to_you=-0.4,
    pasted=-3.5,
)
BIAS: Final = -3.0


def weigh_words(text: str, language: Language | None) -> float:
    """Returns a worth in [0, 1]: that of the sentence that says most. Without a language, little but numbers counts."""
    evidence = read_evidence(text, language)
    return 0.0 if evidence is None else 1.0 / (1.0 + math.exp(-STEEPNESS * weigh_evidence(evidence)))


def weigh_evidence(found: SpokenEvidence) -> float:
    """Returns the log odds that a sentence is worth keeping."""
    return BIAS + sum(weight * value for weight, value in zip(WEIGHTS, found, strict=True))


def read_evidence(text: str, language: Language | None) -> SpokenEvidence | None:
    """Returns what the sentence that says most says; None for a blank text."""
    seen = text[:LOOKED_AT]
    is_pasted = _PASTED.search(seen) is not None
    sentences = [part for sentence in _SENTENCE.split(seen) if sentence.strip() for part in _cut(sentence, language)]
    found = (_read_sentence(sentence, language)._replace(pasted=float(is_pasted)) for sentence in sentences)
    return max(found, key=weigh_evidence, default=None)


def _cut(sentence: str, language: Language | None) -> tuple[str, ...]:
    """Returns a sentence, and what it states before it asks for something: "I moved to Bonn, can you ...".

    Places are those of the normalised text, which differ by a few characters at most.
    """
    asked = None if language is None else language.find_pattern("gate.requests")
    request = None if asked is None else asked.search(normalise(sentence))
    if request is None:
        return (sentence,)
    ends = [end.start() for end in _CLAUSE_END.finditer(sentence[: request.start()])]
    return (sentence, sentence[: ends[-1]]) if ends else (sentence,)


def _read_sentence(sentence: str, language: Language | None) -> SpokenEvidence:
    normal = normalise(sentence)
    if language is None:
        is_concrete = _NUMBER.search(normal) is not None or _has_inner_capital(sentence, frozenset())
        return _count_words(len(_WORD.findall(normal)))._replace(
            concrete=float(is_concrete), asks=float(_MARK.search(sentence) is not None)
        )
    said = language.leave_out("gate.reactions", normal).strip(_EDGES)
    facts = language.count("gate.facts", said)
    chatter = language.count("gate.chatter", said) + language.count("gate.reactions", normal)
    is_lasting = language.finds("instructions.lasting", said) or language.finds("gate.lasting", said)
    return _count_words(_count_content(said, language))._replace(
        facts=float(facts > 0),
        further_facts=float(facts > 1),
        own=float(language.finds("self.words", said) or language.finds("gate.own", said)),
        concrete=float(_is_concrete(sentence, said, language)),
        lasting=float(is_lasting),
        asks=float(_asks(sentence, normal, language)),
        # What is asked for always is no request for once.
        begs=float(not is_lasting and language.finds("gate.requests", said)),
        chatter=min(chatter, MOST_CHATTER) / MOST_CHATTER,
        passing=float(language.finds("gate.passing", said)),
        to_you=float(language.finds("gate.you", said)),
    )


def _count_words(content: float) -> SpokenEvidence:
    return SpokenEvidence(
        content=min(content, MOST_CONTENT) / MOST_CONTENT,
        stated=float(content >= STATEMENT),
        empty=float(content < 1),
    )


def _asks(sentence: str, normal: str, language: Language) -> bool:
    if _MARK.search(sentence):
        return True
    endings = language.phrases.get("questions.endings", ())
    return bool(endings) and normal.rstrip(" .。!！").endswith(endings)


def _is_concrete(sentence: str, said: str, language: Language) -> bool:
    if _NUMBER.search(said) or language.finds("dates.weekdays", said) or language.finds("dates.relative", said):
        return True
    if names_month(said, language):
        return True
    return _names_somebody(sentence, language) or language.finds("gate.names", said)


def _names_somebody(sentence: str, language: Language) -> bool:
    """Returns whether a name stands in a sentence: written with a capital, where only names and first words are."""
    if language.capitals == "none":
        return _LATIN_NAME.search(sentence) is not None
    return language.capitals == "names" and _has_inner_capital(sentence, language.stop_words)


def _has_inner_capital(sentence: str, function_words: frozenset[str]) -> bool:
    words = _WORD.findall(sentence)[1:]
    return any(word[0].isupper() and not word.isupper() and word.lower() not in function_words for word in words)


def _count_content(said: str, language: Language) -> float:
    """Counts words that are neither function words nor chatter."""
    rest = language.leave_out("gate.chatter", language.leave_out("gate.requests", said))
    if language.spacing == "none":
        for word in sorted(language.stop_words, key=len, reverse=True):
            rest = rest.replace(word, " ")
        runs = _DENSE_RUN.findall(rest)
        return max(len(runs), len("".join(runs)) / DENSE)
    return len([word for word in _WORD.findall(rest) if word not in language.stop_words])
