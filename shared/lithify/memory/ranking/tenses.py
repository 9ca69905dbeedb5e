"""Tells from its words whether a question asks about now or about the past, and whether a statement tells of change."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

UNSPACED: Final = "unspaced"
LONGEST: Final = 4000  # characters that are looked at: whoever tells of a change says so soon


def asks_for_latest(query: str) -> bool:
    return _find("latest", query)


def asks_for_past(query: str) -> bool:
    return _find("past", query)


def tells_of_change(text: str) -> bool:
    return _find("change", text)


def _find(table: str, text: str) -> bool:
    return _load_pattern(table).search(text[:LONGEST].replace("’", "'")) is not None


@cache
def _load_pattern(table: str) -> re.Pattern[str]:
    languages = tomllib.loads(files(__package__).joinpath("tenses.toml").read_text("utf-8"))[table]
    spaced = {word for name, words in languages.items() if name != UNSPACED for word in words}
    anywhere = map(re.escape, languages[UNSPACED])
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(spaced)))})\b|{'|'.join(anywhere)}", re.IGNORECASE)
