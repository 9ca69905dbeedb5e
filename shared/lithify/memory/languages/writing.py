"""Tells scripts apart and makes words comparable that are written in more than one way."""

import re
from collections.abc import Mapping
from typing import Final

from lithify.memory.normal_form import normalise_form

# Vowel signs and points that \w leaves out although they stand inside words: Latin, Hebrew, Arabic, Indic.
MARKS: Final = (
    r"\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670"
    r"\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
SCRIPTS: Final[Mapping[str, str]] = {
    "Latin": r"A-Za-z\u00aa-\u024f\u1e00-\u1eff",
    "Cyrillic": r"\u0400-\u052f",
    "Greek": r"\u0370-\u03ff\u1f00-\u1fff",
    "Hebrew": r"\u0590-\u05ff",
    "Arabic": r"\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff",
    "Devanagari": r"\u0900-\u097f",
    "Bengali": r"\u0980-\u09ff",
    "Tamil": r"\u0b80-\u0bff",
    "Thai": r"\u0e00-\u0e7f",
    "Hangul": r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "Kana": r"\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d",
    "Han": r"\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
}
LATIN: Final = "Latin"
# A syllable or a word in one character says as much as this many letters.
_DENSE: Final = {"Han": 4, "Kana": 3, "Hangul": 3}
# Characters that are looked at: a text says soon what language it is in.
LOOKED_AT: Final = 600

_COUNTERS: Final = {name: re.compile(f"[{span}]") for name, span in SCRIPTS.items()}
_ACCENT: Final = re.compile(r"[\u0300-\u036f]")
_HARAKAT: Final = re.compile(r"[\u0640\u064b-\u065f\u0670]")  # the tatweel and the signs of vowels
_ALEF: Final = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه"})
_LIGATURES: Final = str.maketrans({"ß": "ss", "œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d"})


def find_script(text: str) -> str | None:
    """Returns the script of most of a text; None if it has no letter of a known one."""
    seen = text[:LOOKED_AT]
    if seen.isascii():
        return LATIN if _COUNTERS[LATIN].search(seen) else None
    counts = {name: len(found.findall(seen)) * _DENSE.get(name, 1) for name, found in _COUNTERS.items()}
    best = max(counts, key=counts.__getitem__)
    # Japanese is written with Han among its kana; Chinese has none of these.
    if best == "Han" and counts["Kana"] * 8 >= counts["Han"]:
        return "Kana"
    return best if counts[best] else None


def normalise(text: str) -> str:
    """Returns the text in lower case with one form for each letter: composed, full width, and of the Arabic alef."""
    if text.isascii():
        return text.lower()
    plain = normalise_form("NFKC", text).lower().replace("’", "'")
    return normalise_arabic(plain)


def normalise_arabic(text: str) -> str:
    """Returns the text without tatweel and vowel signs, with one form of alef, yeh and teh marbuta."""
    return _HARAKAT.sub("", text).translate(_ALEF)


def fold_accents(word: str) -> str:
    """Returns a word in lower case as it is typed without accents: "Müller" as "muller", "straße" as "strasse"."""
    if word.isascii():
        return word
    bare = _ACCENT.sub("", normalise_form("NFD", word.translate(_LIGATURES)))
    return normalise_form("NFC", bare)
