"""Small signs that a text answers a question, read from its form and not from its words' meaning."""

import re

FULL_SUBSTANCE = 64  # tokens from which on more text promises no more facts

_QUESTION_MARK = re.compile(r"[?？؟]")
_ASKS_WHEN = re.compile(
    r"\bwhen\b|\bhow long\b|\bhow recent|\bhow many (?:days|weeks|months|years)\b"
    r"|\b(?:which|what) (?:date|day|week|month|year|time)\b",
    re.IGNORECASE,
)
# "Recently" and "last" are left out: they date an event, and do not ask for the newest one.
_ASKS_LATEST = re.compile(r"\b(?:latest|newest|most recent|most recently|up[- ]to[- ]date|as of now)\b", re.IGNORECASE)
_SPEAKER = re.compile(r"([^\W\d_][\w.'-]*(?: [\w.'-]+){0,3}):\s")
_WORD = re.compile(r"[^\W_]+")


def asks_when(query: str) -> bool:
    return _ASKS_WHEN.search(query) is not None


def asks_for_latest(query: str) -> bool:
    return _ASKS_LATEST.search(query) is not None


def asks(text: str) -> bool:
    """A turn that asks seldom holds an answer, the turn after it often does."""
    return _QUESTION_MARK.search(text) is not None


def substance(tokens: int) -> float:
    """In [0, 1]: greetings and thanks are short, and rarely what was asked for."""
    return min(max(tokens, 0) / FULL_SUBSTANCE, 1.0)


def names(query: str) -> frozenset[str]:
    """The words of a query by which it may name a speaker."""
    return frozenset(_WORD.findall(query.lower()))


def is_said_by(text: str, asked: frozenset[str]) -> bool:
    """Whether the text opens with a speaker, as in "Ada: hello", of whom the query speaks."""
    speaker = _SPEAKER.match(text)
    return speaker is not None and not asked.isdisjoint(_WORD.findall(speaker.group(1).lower()))
