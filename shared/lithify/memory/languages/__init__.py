"""Languages as data: their words, dates and cues in one file each, and telling which one a text is in."""

from lithify.memory.languages.detection import (
    LanguageDetector,
    detect_foreign,
    detect_language,
    is_foreign,
    load_detector,
)
from lithify.memory.languages.language import ENGLISH, Language, load_languages, read_languages
from lithify.memory.languages.months import english_month, find_months, names_month
from lithify.memory.languages.writing import fold_accents, normalise, normalise_arabic

__all__ = [
    "ENGLISH",
    "Language",
    "LanguageDetector",
    "detect_foreign",
    "detect_language",
    "english_month",
    "find_months",
    "fold_accents",
    "is_foreign",
    "load_detector",
    "load_languages",
    "names_month",
    "normalise",
    "normalise_arabic",
    "read_languages",
]
