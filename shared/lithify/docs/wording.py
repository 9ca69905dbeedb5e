"""The words by which a chunk is found: its own, those of its place, and other ways to write what stands in it."""

import re
from collections.abc import Iterator
from typing import Final

from lithify.docs.dating import date_in_words, dates_in
from lithify.docs.document import Chunk
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import SparseVector

# Of chunks of prose about TARGET characters long; the textbook weights of BM25, which are made for such lengths.
AVERAGE_TOKENS: Final = 150.0
K1: Final = 1.2
B: Final = 0.75
# What git shows of a hash. A longer beginning of it meets the same token.
SHORT_HASH: Final = 7

_HASH = re.compile(rf"(?<![0-9a-z])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{{{SHORT_HASH + 1},64}}(?![0-9a-z])", re.IGNORECASE)
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+")
_MAX_FOLDERS: Final = 12


def chunk_vector(chunk: Chunk, analyser: LexicalAnalyser) -> SparseVector:
    """Makes the sparse vector over text, heading path and path; work for an executor."""
    words = "\n".join((chunk.heading_path, chunk.path, chunk.title, chunk.text))
    dated = f"{words}\n{chunk.ts_hint}" if chunk.ts_hint else words
    extra = synonyms(dated, analyser)
    indices, values = analyser.document_vector(words, AVERAGE_TOKENS, K1, B, extra)
    return SparseVector(tuple(indices), tuple(values))


def query_vector(text: str, analyser: LexicalAnalyser) -> SparseVector:
    """Makes the sparse vector of a question; nothing in the text is syntax: it is words, or nothing."""
    indices, values = analyser.query_vector(text, synonyms(text, analyser))
    return SparseVector(tuple(indices), tuple(values))


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
