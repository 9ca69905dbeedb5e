"""Finds standing instructions in languages other than English, by the phrases of their data files.

The rule is simpler than the English grammar, and the same for all: a clause gives an order (its verb comes first, or
last where the language wants it so), and a word that lasts stands with it. A question, a story, what is for today only
and what somebody else says are none.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from lithify.memory.languages import Language, normalise
from lithify.memory.sentences import QUOTATION, leave_out_quotations

MAX_SENTENCE: Final = 400

_SENTENCE: Final = re.compile(r"(?<=[.!?…।؟])\s+|(?<=[。！？])|\n+")
_ASIAN_QUOTE: Final = re.compile(r"[「『][^」』\n]{9,400}[」』]")
_QUESTION: Final = re.compile(r"[?؟]\W{0,8}$")
_CLAUSE: Final = re.compile(r"[,;:،؛、]|\s[-–—]\s")
_BLANKS: Final = re.compile(r"[\s,،、\-*•¡¿!]+")
_END_MARKS: Final = " .!。।~)"
_ORDERS: Final = ("instructions.orders", "instructions.speech")
_INFINITIVES: Final = ("instructions.infinitives",)
_WISHED: Final = (*_INFINITIVES, "instructions.wished")


class OpenedClause(NamedTuple):
    """A clause without the words that open it."""

    body: str
    is_opened: bool
    lasts: bool  # a word that lasts was among them


def is_foreign_instruction(text: str, languages: Sequence[Language]) -> bool:
    """Tells whether some sentence of the text asks for something from now on, in one of the languages."""
    return any(True for _ in _find_instructions(text, languages))


def is_general_foreign_instruction(text: str, languages: Sequence[Language]) -> bool:
    """Tells whether one of them bears on every answer: it is about how to speak, and names no occasion."""
    return any(
        any(language.finds(cue, sentence) for cue in ("instructions.speech", "instructions.answers"))
        and not language.finds("instructions.limited", language.leave_out("instructions.lasting", sentence))
        for language, sentence in _find_instructions(text, languages)
    )


def _find_instructions(text: str, languages: Sequence[Language]) -> Iterator[tuple[Language, str]]:
    """Yields the sentences that are standing instructions, each with its language."""
    if not languages:
        return
    spoken = _ASIAN_QUOTE.sub(QUOTATION, leave_out_quotations(text))
    for sentence in _SENTENCE.split(spoken):
        normal = _trim(normalise(sentence))
        if len(normal) > MAX_SENTENCE or QUOTATION in normal:
            continue
        yield from ((language, normal) for language in languages if _is_instruction(normal, language))


def _trim(sentence: str) -> str:
    return sentence.strip().rstrip(_END_MARKS)


def _is_instruction(sentence: str, language: Language) -> bool:
    if not language.finds("instructions.lasting", sentence) or _is_passing(sentence, language):
        return False
    if language.finds("instructions.kindness", sentence) or _is_told(sentence, language):
        return False
    if _is_wish(sentence, language):
        return True
    return not _asks(sentence, language) and _orders(sentence, language)


def _is_passing(sentence: str, language: Language) -> bool:
    """Returns whether something is meant for once, or for a day; "from today on" is not."""
    rest = language.leave_out("dates.undated", language.leave_out("instructions.lasting", sentence))
    return any(language.finds(cue, rest) for cue in ("instructions.passing", "dates.relative"))


def _is_told(sentence: str, language: Language) -> bool:
    """Returns whether a habit is told of: "I always forget", or "habla siempre", which may be an order, too.

    The latter is one by a plea, by a word that lasts and is no habit, or if it is about answers.
    """
    if language.finds("instructions.subject_told", sentence):
        return True
    if not language.finds("instructions.narrated", sentence):
        return False
    is_meant = any(language.finds(cue, sentence) for cue in ("instructions.pleas", "instructions.answers"))
    return not is_meant and not language.finds(
        "instructions.lasting", language.leave_out("instructions.habits", sentence)
    )


def _asks(sentence: str, language: Language) -> bool:
    endings = language.phrases.get("questions.endings", ())
    return _QUESTION.search(sentence) is not None or (bool(endings) and sentence.endswith(endings))


def _is_wish(sentence: str, language: Language) -> bool:
    """Returns whether a sentence begins like "I want you to", or asks "could you", and goes on with an order."""
    body = _open_clause(_CLAUSE.sub(" ", sentence), language).body
    is_plea = _asks(sentence, language) or language.finds("instructions.pleas", sentence)
    cues = ("instructions.wishes", "instructions.requests") if is_plea else ("instructions.wishes",)
    patterns = (language.find_pattern(cue) for cue in cues)
    begun = next((found for pattern in patterns if pattern is not None and (found := pattern.match(body))), None)
    if begun is None:
        return False
    return any(language.finds(cue, body[begun.end() :]) for cue in (*_ORDERS, *_WISHED))


def _orders(sentence: str, language: Language) -> bool:
    """Returns whether a clause gives an order, and lasts; what only opens a sentence holds for its later clauses."""
    is_led = False
    for clause in _CLAUSE.split(sentence):
        opened = _open_clause(clause, language)
        is_led |= opened.lasts
        if not opened.body:
            continue
        lasts = is_led or language.finds("instructions.lasting", _cut_subordinate(opened.body, language))
        if lasts and _is_order(opened, language):
            return True
        # "From now on, when I ask, …" goes on; "from now on I work there, …" is over.
        is_led = is_led and _begins(opened.body, language, ("instructions.limited", "instructions.subordinate"))
    return False


def _is_order(opened: OpenedClause, language: Language) -> bool:
    if language.imperative == "last":
        return _ends(opened.body, language, _ORDERS)
    if _begins(opened.body, language, _ORDERS):
        return True
    # As rules and signs are written: "Responder siempre en español", "Bitte immer auf Deutsch antworten".
    if language.finds("self.subject", opened.body) or _begins(opened.body, language, ("instructions.subordinate",)):
        return False
    is_rule = opened.is_opened and _ends(opened.body, language, _INFINITIVES)
    return is_rule or _begins(opened.body, language, _INFINITIVES)


def _begins(body: str, language: Language, cues: tuple[str, ...]) -> bool:
    patterns = (language.find_pattern(cue) for cue in cues)
    return any(pattern is not None and pattern.match(body) for pattern in patterns)


def _ends(body: str, language: Language, cues: tuple[str, ...]) -> bool:
    patterns = (_compile_ending(language, cue) for cue in cues)
    return any(pattern is not None and pattern.search(body) for pattern in patterns)


@cache
def _compile_ending(language: Language, cue: str) -> re.Pattern[str] | None:
    pattern = language.find_pattern(cue)
    return None if pattern is None else re.compile(rf"{pattern.pattern}\Z")


def _cut_subordinate(body: str, language: Language) -> str:
    """Returns a clause up to what is told within it: "write about a man who always lies"."""
    pattern = language.find_pattern("instructions.subordinate")
    begun = pattern.search(body, 1) if pattern else None
    return body if begun is None else body[: begun.start()]


def _open_clause(clause: str, language: Language) -> OpenedClause:
    """Takes away what opens a clause: politeness, small words, and words that last."""
    start = _skip_blanks(clause, 0)
    first = start
    lasts = False
    while (found := _match_opener(clause, start, language)) is not None:
        end, is_lasting = found
        lasts |= is_lasting
        start = _skip_blanks(clause, end)
    return OpenedClause(clause[start:].strip(), start > first, lasts)


def _match_opener(clause: str, start: int, language: Language) -> tuple[int, bool] | None:
    """Returns the end of an opener, and whether it lasts."""
    for cue in ("instructions.lasting", "instructions.openers"):
        pattern = language.find_pattern(cue)
        if pattern is not None and (found := pattern.match(clause, start)) and found.end() > start:
            return found.end(), cue == "instructions.lasting"
    return None


def _skip_blanks(clause: str, start: int) -> int:
    blanks = _BLANKS.match(clause, start)
    return blanks.end() if blanks else start
