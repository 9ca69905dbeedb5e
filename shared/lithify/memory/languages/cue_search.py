"""Looks for the cues of a text in the language, or the languages, that it may be in."""

from functools import cache
from typing import Final

from lithify.memory.languages.detection import load_detector
from lithify.memory.languages.language import ENGLISH, Language, load_languages
from lithify.memory.languages.writing import LATIN, normalise

_END_MARKS: Final = " .。!！~…"


def find_readings(text: str) -> tuple[Language, ...]:
    """Returns the shipped languages in which the cues of a text are to be read, the likeliest first."""
    return load_detector().find_readings(text)


def find_foreign_readings(text: str) -> tuple[Language, ...]:
    """Returns those of the readings that are not English."""
    return tuple(language for language in find_readings(text) if language.code != ENGLISH)


def finds_cue(cue: str, text: str) -> bool:
    """Returns whether a text has a cue such as "questions.when" in a language it may be in."""
    normal = normalise(text)
    return any(language.finds(cue, normal) for language in find_readings(text))


def ends_like_question(text: str) -> bool:
    """Returns whether a text ends as questions do in a script where they need no mark: "ですか"."""
    return not text.isascii() and text.rstrip(_END_MARKS).endswith(_question_endings())


@cache
def _question_endings() -> tuple[str, ...]:
    """Returns the endings of all languages that have a script of their own; none of another language is mistaken."""
    others = (one for one in load_languages().values() if one.scripts[0] != LATIN)
    return tuple(ending for one in others for ending in one.phrases.get("questions.endings", ()))
