"""What is read of a question that quotes half a book: rules look at every word of it, while others wait."""

from typing import Final

from lithify.memory.lexical.analyser import MAX_QUESTION_CHARS

_HALF: Final = (MAX_QUESTION_CHARS - 1) // 2


def clip_question(text: str) -> str:
    """Leaves the middle of a very long question out: what is asked stands before or behind what is quoted."""
    return text if len(text) <= MAX_QUESTION_CHARS else f"{text[:_HALF]}\n{text[-_HALF:]}"
