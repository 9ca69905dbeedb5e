"""Finds standing instructions in what a user says: "from now on, answer in German".

Precision comes first: what is shown to a model as the user's standing wish must be one. A command for once ("delete the
staging database"), a habit that is only told of ("I always forget my keys"), a question and a quotation are none.
"""

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from lithify.memory.guidance.foreign import is_foreign_instruction, is_general_foreign_instruction
from lithify.memory.guidance.grammar import LANGUAGES, InstructionGrammar, load_instructions
from lithify.memory.languages import Language, find_foreign_readings
from lithify.memory.sentences import QUOTATION, is_question, leave_out_quotations, split_sentences

# Longer texts are pastes: what they say is seldom meant for the reader.
MAX_CHARACTERS: Final = 2000
MAX_SENTENCE: Final = 400

_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"[^\s,;:()]+")
MAX_CLAUSES: Final = 8
# "Use the imperative in commit subjects. 50 characters. This goes for all repositories."
SEAL_REACH: Final = 2


class Act(Enum):
    """What a sentence does."""

    NONE = 0
    STANDING = 1
    ALONE = 2  # a standing instruction, unless the text asks for something at hand
    SEAL = 3  # makes what was asked for before stand: "always"
    ORDER = 4  # asks for something, be it for once
    PASSING = 5  # asks for something today


class Instruction(NamedTuple):
    """A clause that is a standing instruction, without what opens it, and the sentence it stands in; in lower case."""

    clause: str
    sentence: str


def is_standing_instruction(text: str) -> bool:
    """Tells whether some sentence of the text asks for something from now on."""
    if any(True for language in LANGUAGES for _ in find_in_language(text, load_instructions(language))):
        return True
    return is_foreign_instruction(text, _foreign_readings(text))


def is_general_instruction(text: str) -> bool:
    """Tells whether some standing instruction bears on every answer: "call me Sam", but not "never deploy on Fridays".

    It is about how to speak, and names neither an occasion nor a matter.
    """
    is_general = any(
        grammar.general.search(found.sentence) and not grammar.limited.search(found.sentence)
        for grammar in map(load_instructions, LANGUAGES)
        for found in find_in_language(text, grammar)
    )
    return is_general or is_general_foreign_instruction(text, _foreign_readings(text))


def _foreign_readings(text: str) -> tuple[Language, ...]:
    return find_foreign_readings(text) if len(text) <= MAX_CHARACTERS else ()


def find_in_language(text: str, grammar: InstructionGrammar) -> Iterator[Instruction]:
    """Yields the standing instructions that a text gives in one language, one for each sentence at most."""
    if len(text) > MAX_CHARACTERS:
        return
    read = list(_read_sentences(text, grammar))
    acts = [act for act, _ in read]
    sealed = [Act.SEAL in acts[place + 1 : place + 1 + SEAL_REACH] for place in range(len(read))]
    is_at_work = Act.PASSING in acts or any(
        act is Act.ORDER and not lasting for act, lasting in zip(acts, sealed, strict=True)
    )
    for (act, found), lasting in zip(read, sealed, strict=True):
        if act is Act.STANDING or (act in (Act.ORDER, Act.ALONE) and lasting) or (act is Act.ALONE and not is_at_work):
            yield found


def _read_sentences(text: str, grammar: InstructionGrammar) -> Iterator[tuple[Act, Instruction]]:
    for sentence in split_sentences(leave_out_quotations(text), grammar.abbreviations):
        plain = _write_out(sentence, grammar)
        if (quoted := grammar.quoting.search(plain)) is not None:
            plain = plain[: quoted.start()]
        clauses = [] if grammar.reported.search(plain) else list(_clauses(plain, grammar))
        if is_question(sentence) or grammar.asking.match(plain):
            yield _read_question(clauses, plain, grammar)
        else:
            yield _read_act(clauses, plain, grammar)
        if quoted is not None:
            # Something is to be worked on, and what follows is it.
            yield Act.ORDER, Instruction("", plain)
            return


def _read_question(clauses: list[str], plain: str, grammar: InstructionGrammar) -> tuple[Act, Instruction]:
    """Reads what a question asks the reader to do: "could you always cite your sources?"."""
    requests = [clause[asked.end() :] for clause in clauses if (asked := grammar.requests.match(clause))]
    act, found = _read_act(requests, plain, grammar)
    if act is Act.NONE and any(grammar.favours.match(clause) for clause in clauses):
        return Act.ORDER, found
    return act, found


def _read_act(clauses: list[str], plain: str, grammar: InstructionGrammar) -> tuple[Act, Instruction]:
    """Reads what a sentence does, by the first of its clauses that does the most."""
    meant = [clause for clause in clauses if _is_meant(clause, grammar)]
    ways = ((Act.STANDING, grammar.standing), (Act.ALONE, grammar.alone), (Act.SEAL, grammar.seals))
    for act, patterns in ways:
        for clause in meant:
            if any(pattern.fullmatch(clause) for pattern in patterns):
                return act, Instruction(clause, plain)
    ordered = next((clause for clause in clauses if any(order.fullmatch(clause) for order in grammar.orders)), None)
    if ordered is None:
        return Act.NONE, Instruction("", plain)
    return (Act.ORDER if ordered in meant else Act.PASSING), Instruction(ordered, plain)


def _write_out(sentence: str, grammar: InstructionGrammar) -> str:
    plain = _BLANKS.sub(" ", sentence.casefold()).strip(" -*•")
    return _WORD.sub(lambda found: grammar.contractions.get(found[0], found[0]), plain)


def _clauses(sentence: str, grammar: InstructionGrammar) -> Iterator[str]:
    """Yields the sentence, and each part that a mark or an opener sets off, without its openers."""
    starts = [0, *(match.end() for match in grammar.begins.finditer(sentence))]
    for start in starts[:MAX_CLAUSES]:
        clause = sentence[start:]
        while (opener := grammar.openers.match(clause)) and opener.end() < len(clause):
            clause = clause[opener.end() :]
        yield clause.rstrip(" .!?…)")


def _is_meant(clause: str, grammar: InstructionGrammar) -> bool:
    """Tells whether a clause can be meant for the reader, and for longer than today."""
    if len(clause) > MAX_SENTENCE or QUOTATION in clause:
        return False
    return not grammar.passing.search(clause) and not grammar.kindness.search(clause)
