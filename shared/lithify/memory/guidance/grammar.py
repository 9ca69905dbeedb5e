"""Reads from its data file how a language gives standing instructions."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

LANGUAGES: Final = ("en",)


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that one instruction at a time can be about, with the words by which its values are told."""

    name: str
    about: re.Pattern[str]
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class InstructionGrammar:
    """Holds the ways in which one language gives standing instructions; see the data file."""

    abbreviations: frozenset[str]
    contractions: Mapping[str, str]
    openers: re.Pattern[str]
    begins: re.Pattern[str]
    quoting: re.Pattern[str]
    reported: re.Pattern[str]
    passing: re.Pattern[str]
    kindness: re.Pattern[str]
    standing: tuple[re.Pattern[str], ...]
    alone: tuple[re.Pattern[str], ...]
    orders: tuple[re.Pattern[str], ...]
    seals: tuple[re.Pattern[str], ...]
    requests: re.Pattern[str]
    favours: re.Pattern[str]
    asking: re.Pattern[str]
    general: re.Pattern[str]
    limited: re.Pattern[str]
    topics: tuple[Topic, ...]
    denied: frozenset[str]
    affirmed: frozenset[str]
    behind: frozenset[str]
    reach: int
    denials: frozenset[str]
    common: frozenset[str]
    progressive: str


@cache
def load_instructions(language: str) -> InstructionGrammar:
    """Returns the grammar of a shipped language; it is read once."""
    source = files(__package__).joinpath(f"{language}.toml").read_text("utf-8")
    data: dict[str, Any] = tomllib.loads(source)
    pieces: dict[str, str] = data["pieces"]
    openers = "|".join(data["openers"])
    return InstructionGrammar(
        abbreviations=frozenset(data["abbreviations"]),
        contractions=data["contractions"],
        openers=re.compile(rf"(?:{openers})(?:[,:!]| -)? "),
        begins=re.compile(data["begins"]),
        quoting=re.compile(data["quoting"]),
        reported=re.compile(data["reported"]),
        passing=re.compile(_fill(data["passing"], pieces)),
        kindness=re.compile(data["kindness"]),
        standing=_read_patterns(data["standing"], pieces),
        alone=_read_patterns(data["alone"], pieces),
        orders=_read_patterns(data["orders_for_once"], pieces),
        seals=_read_patterns([data["seals"]], pieces),
        requests=re.compile(_fill(data["requests"], pieces)),
        favours=re.compile(_fill(data["favours"], pieces)),
        asking=re.compile(pieces["asking"]),
        general=re.compile(_fill(data["general"], pieces)),
        limited=re.compile(_fill(data["limited"], pieces)),
        topics=tuple(_read_topic(entry) for entry in data["topic"]),
        denied=frozenset(data["topics"]["denied"]),
        affirmed=frozenset(data["topics"]["affirmed"]),
        behind=frozenset(data["topics"]["behind"]),
        reach=data["topics"]["reach"],
        denials=frozenset(data["orders"]["denials"]),
        common=frozenset(data["orders"]["common"]),
        progressive=data["orders"]["progressive"],
    )


def _read_topic(entry: Mapping[str, Any]) -> Topic:
    words = {word: value for value, told in entry["values"].items() for word in told}
    return Topic(entry["name"], re.compile(entry["about"]), words)


def _read_patterns(patterns: Iterable[str], pieces: Mapping[str, str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(_fill(pattern, pieces)) for pattern in patterns)


def _fill(pattern: str, pieces: Mapping[str, str]) -> str:
    """Fills `<name>` pieces into a pattern; a piece may be made of others."""
    for _ in range(3):
        for name, words in pieces.items():
            pattern = pattern.replace(f"<{name}>", words)
    return pattern
