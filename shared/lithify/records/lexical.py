"""The words of a text as the sparse vector of the lexical leg."""

from typing import Final

from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import SparseVector

# Mean number of search tokens of a conversation turn; BM25 normalises lengths by it.
AVERAGE_TOKENS: Final = 16.0


def lexical_of(text: str, analyser: LexicalAnalyser) -> SparseVector:
    indices, values = analyser.document_vector(text, AVERAGE_TOKENS)
    return SparseVector(tuple(indices), tuple(values))
