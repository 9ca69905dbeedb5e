"""The words by which a chunk is found: its own, those of its place, and other ways to write its dates and names."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from lithify.docs.document import Chunk
from lithify.docs.outline import front_matter
from lithify.docs.terms import EXACT_WEIGHT
from lithify.memory.lexical.analyser import LexicalAnalyser, token_index
from lithify.memory.ranking.recency import date_in_path
from lithify.store import SparseVector

# Of chunks of prose about TARGET characters long; the textbook weights of BM25, which are made for such lengths.
AVERAGE_TOKENS: Final = 150.0
K1: Final = 1.2
B: Final = 0.75
# What git shows of a hash. A longer beginning of it meets the same token.
SHORT_HASH: Final = 7

_HASH = re.compile(rf"(?<![0-9a-z])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{{{SHORT_HASH + 1},64}}(?![0-9a-z])", re.IGNORECASE)
# Begun at the head of a run only, and without giving back: a long word must not be tried from each of its letters.
_PATH = re.compile(r"(?<![\w.-])[\w.-]++(?:/[\w.-]++)++")
_MAX_FOLDERS: Final = 12

# Not from the calendar module: its names follow the locale.
MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

_HEAD_DATE = re.compile(r"^date[ \t]*:[ \t]*[\"']?(\d{4}-\d{2}-\d{2})", re.MULTILINE | re.IGNORECASE)
_NAME = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_FORMS: Final = (
    re.compile(rf"(?<!\d){_YEAR}(?P<gap>[-/.])(?P<number>\d{{1,2}})(?P=gap){_DAY}(?!\d)"),
    re.compile(rf"(?<!\d){_YEAR}\s?年\s?(?P<number>\d{{1,2}})\s?月\s?{_DAY}\s?日"),
    re.compile(rf"(?<!\d){_DAY}\s+(?:of\s+)?{_NAME},?\s+{_YEAR}(?!\d)", re.IGNORECASE),
    re.compile(rf"\b{_NAME}\s+{_DAY},?\s+{_YEAR}(?!\d)", re.IGNORECASE),
)


def chunk_vector(chunk: Chunk, analyser: LexicalAnalyser) -> SparseVector:
    """Makes the sparse vector over text, heading path and path; work for an executor."""
    words = "\n".join((chunk.heading_path, chunk.path, chunk.title, chunk.text))
    dated = f"{words}\n{chunk.ts_hint}" if chunk.ts_hint else words
    extra = synonyms(dated, analyser)
    indices, values = analyser.document_vector(words, AVERAGE_TOKENS, k1=K1, b=B, extra=extra)
    return SparseVector(tuple(indices), tuple(values))


def query_vector(text: str, analyser: LexicalAnalyser, exact: Iterable[str] = ()) -> SparseVector:
    """Makes the sparse vector of a question; nothing in the text is syntax: it is words, or nothing.

    The names in `exact` weigh more than other words, each as a whole: its parts are words like all others.
    """
    indices, values = analyser.query_vector(text, synonyms(text, analyser))
    whole = {token_index(token) for name in exact for token in analyser.tokens(name)[:1]}
    weights = (EXACT_WEIGHT if index in whole else value for index, value in zip(indices, values, strict=True))
    return SparseVector(tuple(indices), tuple(weights))


def synonyms(text: str, analyser: LexicalAnalyser) -> list[str]:
    """Returns tokens for dates in words and numbers, for the beginning of hashes, and for the ends of paths."""
    dates = [token for day in dict.fromkeys(dates_in(text)) for token in analyser.tokens(date_in_words(day))]
    hashes = [match[0][:SHORT_HASH].lower() for match in _HASH.finditer(text)]
    return [*dates, *dict.fromkeys(hashes), *dict.fromkeys(_path_ends(text))]


def _path_ends(text: str) -> Iterator[str]:
    """Yields `keys.py` and `streams/keys.py` of `shared/streams/keys.py`; the whole is a word already."""
    for match in _PATH.finditer(text):
        folders = match[0].strip(".-").lower().split("/")[-_MAX_FOLDERS:]
        yield from ("/".join(folders[n:]) for n in range(1, len(folders)))


def ts_hint(path: str, text: str) -> str | None:
    """Returns the date in the front matter, else the last one in the path, else nothing; as YYYY-MM-DD."""
    written = _HEAD_DATE.search(front_matter(text))
    dated = _real_date(*map(int, written[1].split("-"))) if written else None
    found = dated or date_in_path(path)
    return found.isoformat() if found else None


def dates_in(text: str) -> Iterator[date]:
    """Yields real dates; it knows numbers and month names in English, and the forms of Chinese and Japanese."""
    for form in _FORMS:
        for match in form.finditer(text):
            parts = match.groupdict()
            month = int(parts["number"]) if parts.get("number") else _month(parts["month"])
            found = _real_date(int(parts["year"]), month, int(parts["day"]))
            if found is not None:
                yield found


def date_in_words(day: date) -> str:
    """Writes a date as people do, and as machines do."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year} {day.isoformat()}"


def _month(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, start=1) if month.startswith(name.lower()))


def _real_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
