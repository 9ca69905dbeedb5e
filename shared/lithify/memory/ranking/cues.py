"""What a question or a text tells by its form: its words, taken literally (spec 08 §3), and signs of an answer."""

import re
from collections.abc import Sequence

FULL_SUBSTANCE = 64  # tokens from which on more text promises no more facts

_QUESTION_MARK = re.compile(r"[?？؟]")
_ASKS_WHEN = re.compile(
    r"\bwhen\b|\bhow long\b|\bhow recent|\bhow many (?:days|weeks|months|years)\b"
    r"|\b(?:which|what) (?:date|day|week|month|year|time)\b",
    re.IGNORECASE,
)
_ASKS_HOW_MANY = re.compile(
    r"\bhow (?:many|much|old|far|long|often|big|large|tall|high|wide|heavy)\b"
    r"|\b(?:which|what)(?: is| was| are| were)?(?: the| my| our)? "
    r"(?:number|amount|percentage|price|score|version|size)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|couple|several"
    r"|once|twice)\b",
    re.IGNORECASE,
)
# In the past only: "what would you suggest" asks for something new.
_ASKS_ASSISTANT = re.compile(
    r"\bdid you\b|\byou(?:'ve| have| had)? (?:said|told|gave|given|suggested|recommended|mentioned|advised|proposed"
    r"|explained|provided|described|showed|shown|wrote|written)\b|\byour (?:earlier|previous|last|original)\b",
    re.IGNORECASE,
)
# Whoever says "how do I" or "can I" asks about the world; "where do I" asks about himself.
_ASKS_HOW = r"(?<!\bhow do )(?<!\bhow can )(?<!\bhow should )(?<!\bhow would )(?<!\bhow could )(?<!\bcan )(?<!\bmay )"
_ABOUT_SELF = re.compile(
    r"\b(?:my|mine|myself|our|ours|(?:about|know|of|to|with) me)\b"
    rf"|{_ASKS_HOW}(?<!\bcould )(?<!\bshould )(?<!\bif )\bi\b"
    r"|\b(?:ich|mich|mir|meine?[mnrs]?|unsere?[mnrs]?|je|mon|mes|notre|nos|yo|mis?|nuestr[oa]s?|io|mi[oae]|miei"
    r"|meus?|minhas?|noss[oa]s?|ik|mij|mijn|onze|я|меня|мне|мо[йяёи]|моего|моей|моих|наш[аеи]?)\b"
    r"|我|私|僕|俺|\b(?:내|나의|저의|제가|내가|우리)|\b(?:मैं|मेर[ाीे]|मुझे|हमार[ाीे])\b|\b(?:أنا|لدي|عندي|اسمي)\b",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"([^\W\d_][\w.'-]*(?: [\w.'-]+){0,3}):\s")
_WORD = re.compile(r"[^\W_]+")
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


def asks_when(query: str) -> bool:
    return _ASKS_WHEN.search(query) is not None


def asks_how_many(query: str) -> bool:
    return _ASKS_HOW_MANY.search(query) is not None


def names_number(text: str) -> bool:
    """Returns whether a text says how many, the name it may open with left out."""
    speaker = _SPEAKER.match(text)
    return _NUMBER.search(text, speaker.end() if speaker else 0) is not None


def role_shares(query: str) -> dict[str, float]:
    """Returns how much each role's turns are asked for: people ask about themselves, or about what they were told."""
    if _ASKS_ASSISTANT.search(query):
        return {"assistant": 1.0, "user": 0.5}
    return {"user": 1.0}


def asks_about_self(query: str, user: str) -> bool:
    """Returns whether somebody asks about himself, in the first person or by the name that is his id."""
    named = name_words(user)
    return _ABOUT_SELF.search(query) is not None or any(len(word) > 2 for word in named & name_words(query))


def asks_something(text: str) -> bool:
    """Returns whether a turn asks: it then seldom holds an answer, but the turn after it often does."""
    return _QUESTION_MARK.search(text) is not None


def substance(tokens: int) -> float:
    """Returns a number in [0, 1]: greetings and thanks are short, and rarely what was asked for."""
    return min(max(tokens, 0) / FULL_SUBSTANCE, 1.0)


def name_words(query: str) -> frozenset[str]:
    """Returns the words of a query by which it may name a speaker."""
    return frozenset(_WORD.findall(query.lower()))


def is_said_by(text: str, asked: frozenset[str]) -> bool:
    """Returns whether the text opens with a speaker, as in "Ada: hello", of whom the query speaks."""
    speaker = _SPEAKER.match(text)
    return speaker is not None and not asked.isdisjoint(_WORD.findall(speaker.group(1).lower()))


def speaker_of(text: str) -> str | None:
    """Returns who speaks, where a text opens with it, as in "Ada: hello"."""
    speaker = _SPEAKER.match(text)
    return None if speaker is None else speaker.group(1).lower()


def words(text: str) -> list[str]:
    """Returns all words in lower case, in order, repeats included."""
    if text.isascii():  # most text, and three times as fast as the pattern
        return text.encode("ascii").translate(_ASCII_WORDS).decode("ascii").split()
    return [word for run in _RUN.finditer(text.lower()) for word in _cut_run(run)]


def keywords(query: str) -> tuple[str, ...]:
    """Returns K: the distinct words of three or more characters in order of appearance; CJK bigrams are kept."""
    distinct = dict.fromkeys(words(query))
    return tuple(word for word in distinct if len(word) >= MIN_KEYWORD or _CJK_RUN.fullmatch(word))


def _cut_run(run: re.Match[str]) -> Sequence[str]:
    """Cuts a run of two or more CJK characters into overlapping pairs."""
    word = run.group()
    if run.group(1) is None or len(word) == 1:
        return (word,)
    return [word[i : i + 2] for i in range(len(word) - 1)]
