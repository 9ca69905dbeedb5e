"""Reads what is claimed of an attribute, so that two ways to say one value are equal: 5,000 € and 5000 euros."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from lithify.memory.updates.grammar import Grammar, ValueKind
from lithify.memory.updates.moments import STRIPPED, read_moment
from lithify.memory.updates.segments import Segment, strip_time

MAX_WORDS: Final = 8
PHONE_DIGITS: Final = 7  # from the end: a country code may be there or not
MIN_DIGITS: Final = 5
LEADING: Final = 4  # words among which a number has to stand

_AMOUNT = re.compile(r"([$€£]?)v?(\d{1,15}(?:[.,]\d{1,6}){0,4})([a-z%$€£]{1,5})?")
_SCALES: Final = {"k": 1_000, "m": 1_000_000}
_CURRENCIES: Final = {"$": "dollar", "€": "euro", "£": "pound"}


def read_value(kind: ValueKind, text: str, segment: Segment, grammar: Grammar) -> frozenset[str]:
    """Returns the value that the words state, as a set of words; empty if they state none of this kind."""
    if kind.form == "moment":
        return read_moment(text.split(), grammar.moments)
    if kind.lasting and grammar.fleeting.search(text):
        return frozenset()
    words = _trim(text, grammar)
    if kind.form == "digits":
        return _read_digits(words)
    if kind.form == "mail":
        return frozenset(word.strip(STRIPPED + "<>") for word in words if "@" in word)
    words = _narrow(words[1:] if words and words[0] in kind.skip else words, kind, grammar)
    if not _fits(words, kind, segment, grammar):
        return frozenset()
    return normal_words(words, grammar)


def _trim(text: str, grammar: Grammar) -> list[str]:
    """Cuts what follows a value, and words of time behind it."""
    kept: list[str] = []
    for word in text.split():
        if kept and word in grammar.words["ends"]:
            break
        kept.append(word)
    return strip_time(" ".join(kept), grammar).split()


def _narrow(words: list[str], kind: ValueKind, grammar: Grammar) -> list[str]:
    """Keeps the part that tells: of "a small flat in Leeds" the end, of "Leeds in England" the beginning."""
    inner = [place for place, word in enumerate(words) if word in kind.cut and place]
    if not inner:
        return words
    if kind.inside and words[0] in grammar.words["determiners"]:
        return words[inner[-1] + 1 :]
    return words[: inner[0]]


def _fits(words: Sequence[str], kind: ValueKind, segment: Segment, grammar: Grammar) -> bool:
    if not words or not kind.least <= len(words) <= kind.most or not (kind.any or _is_told(words, grammar)):
        return False
    if any(word in grammar.words[name] for name in kind.refuses for word in words[:2]):
        return False
    if kind.among and grammar.words[kind.among].isdisjoint(words):
        return False
    return _has_needed(words, kind.needs, segment, grammar)


def _has_needed(words: Sequence[str], needs: str, segment: Segment, grammar: Grammar) -> bool:
    lists = grammar.words
    match needs:
        case "digit":
            return any(character.isdecimal() for word in words[:LEADING] for character in word)
        case "capital":
            return next((word in segment.names for word in words if word not in lists["determiners"]), False)
        case "article":
            return words[0] in lists["articles"]
        case "named":
            return words[0] in lists["determiners"] or words[0] in segment.names
        case "no moment":
            return not read_moment(words, grammar.moments)
        case "proper":
            return words[0] not in lists["articles"] and _is_proper(words, segment, grammar)
        case _:
            return True


def _is_proper(words: Sequence[str], segment: Segment, grammar: Grammar) -> bool:
    """Tells whether the words may be a place: no number, and behind "the" a name or what everybody knows."""
    if any(character.isdecimal() for word in words for character in word):
        return False
    known = words[-1] in segment.names or not grammar.words["surroundings"].isdisjoint(words)
    return words[0] not in grammar.words["determiners"] or known


def _is_told(words: Sequence[str], grammar: Grammar) -> bool:
    """Tells whether the words name something, where others only judge: "my password is wrong"."""
    told = [word for word in words if word not in grammar.words["fillers"]] or [words[0]]
    vague = grammar.words["vague"]
    if words[0] in grammar.words["determiners"] and len(told) > 1:
        return told[-1] not in vague
    first = told[0]
    describes = first.endswith(grammar.describing) and first not in grammar.words["fields"]
    return first not in vague and words[0] not in vague and not describes


def normal_words(words: Iterable[str], grammar: Grammar) -> frozenset[str]:
    """Returns the words that carry meaning, numbers written one way; empty if there are too many for one value."""
    listed = list(words)
    # A branch may be called "main".
    told = [word for word in listed if word not in grammar.words["fillers"]] or listed
    kept = (normal_word(word) for word in told)
    found = frozenset(part for word in kept for part in word.split())
    return found if len(found) <= MAX_WORDS else frozenset()


def normal_word(word: str) -> str:
    """Writes an amount as number and unit, any other word without its plural: "$20k" is "20000 dollar"."""
    bare = word.strip(STRIPPED).removesuffix("'s")
    match = _AMOUNT.fullmatch(bare)
    if match is None:
        return _singular(_CURRENCIES.get(bare, bare))
    sign, number, unit = (part or "" for part in match.groups())
    scale = _SCALES.get(unit)
    # Without a scale it stays as it was written: "2.10" may be a version.
    written = f"{float(number.replace(',', '.')) * scale:.0f}" if scale and number.count(".") < 2 else number
    named = _CURRENCIES.get(sign) or _CURRENCIES.get(unit) or ("" if scale else unit)
    return f"{written} {_singular(named)}".strip()


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _read_digits(words: Iterable[str]) -> frozenset[str]:
    digits = "".join(character for word in words for character in word if character.isdecimal())
    return frozenset({digits[-PHONE_DIGITS:]}) if len(digits) >= MIN_DIGITS else frozenset()
