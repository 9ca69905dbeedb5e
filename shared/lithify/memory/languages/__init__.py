"""Languages as data: their words, dates and cues in one file each, and telling which one a text is in."""

from lithify.memory.languages.cue_search import (
    ends_like_question,
    find_foreign_readings,
    find_readings,
    finds_cue,
)
from lithify.memory.languages.dates import names_month_of_year, take_dates
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
    "ends_like_question",
    "english_month",
    "find_foreign_readings",
    "find_months",
    "find_readings",
    "finds_cue",
    "fold_accents",
    "is_foreign",
    "load_detector",
    "load_languages",
    "names_month",
    "names_month_of_year",
    "normalise",
    "normalise_arabic",
    "read_languages",
    "take_dates",
]
