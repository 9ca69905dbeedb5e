"""The words of a text as the sparse vector of the lexical leg."""

from lithify.memory.lexical.analyser import AVERAGE_TOKENS, LexicalAnalyser
from lithify.memory.lexical.turn_text import searchable_text
from lithify.store import SparseVector


def lexical_of(text: str, analyser: LexicalAnalyser, said_at: int | None = None) -> SparseVector:
    """What was said at some time, in ms, is found by its date, too; an authored text has none."""
    dated = text if said_at is None else searchable_text(text, said_at)
    indices, values = analyser.document_vector(dated, AVERAGE_TOKENS)
    return SparseVector(tuple(indices), tuple(values))
