"""Finds standing instructions in what a user says: "from now on, answer in German".

Precision comes first: what is shown to a model as the user's standing wish must be one. A command for once ("delete the
staging database"), a habit that is only told of ("I always forget my keys"), a question and a quotation are none.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from lithify.memory.guidance.grammar import LANGUAGES, InstructionGrammar, load_instructions
from lithify.memory.sentences import QUOTATION, is_question, leave_out_quotations, split_sentences

# Longer texts are pastes: what they say is seldom meant for the reader.
MAX_CHARACTERS: Final = 2000
MAX_SENTENCE: Final = 400

_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"[^\s,;:()]+")
MAX_CLAUSES: Final = 8


def is_standing_instruction(text: str) -> bool:
    """Tells whether some sentence of the text asks for something from now on."""
    return next(find_instructions(text), None) is not None


def find_instructions(text: str) -> Iterator[str]:
    """Yields the sentences that are standing instructions, in lower case and without what opens them."""
    for language in LANGUAGES:
        yield from find_in_language(text, load_instructions(language))


def find_in_language(text: str, grammar: InstructionGrammar) -> Iterator[str]:
    """Yields the standing instructions that a text gives in one language."""
    if len(text) > MAX_CHARACTERS:
        return
    for sentence in split_sentences(leave_out_quotations(text), grammar.abbreviations):
        plain = _write_out(sentence, grammar)
        if (quoted := grammar.quoting.search(plain)) is not None:
            plain = plain[: quoted.start()]
        if not is_question(sentence):
            yield from islice((clause for clause in _clauses(plain, grammar) if _is_standing(clause, grammar)), 1)
        if quoted is not None:
            return


def _write_out(sentence: str, grammar: InstructionGrammar) -> str:
    plain = _BLANKS.sub(" ", sentence.casefold()).strip(" -*•")
    return _WORD.sub(lambda found: grammar.contractions.get(found[0], found[0]), plain)


def _clauses(sentence: str, grammar: InstructionGrammar) -> Iterator[str]:
    """Yields the sentence, and each part that a mark or an opener sets off, without its openers."""
    if grammar.reported.search(sentence):
        return
    starts = [0, *(match.end() for match in grammar.begins.finditer(sentence))]
    for start in starts[:MAX_CLAUSES]:
        clause = sentence[start:]
        while (opener := grammar.openers.match(clause)) and opener.end() < len(clause):
            clause = clause[opener.end() :]
        yield clause.rstrip(" .!…")


def _is_standing(clause: str, grammar: InstructionGrammar) -> bool:
    if len(clause) > MAX_SENTENCE or QUOTATION in clause:
        return False
    if grammar.passing.search(clause) or grammar.kindness.search(clause):
        return False
    return any(pattern.fullmatch(clause) for pattern in grammar.standing)
