"""R3 of the deontic rules: openings of a sentence that make it an instruction (spec 06 §4)."""

from collections.abc import Callable

from lithify.memory.rulebook.deontic_lexicon import (
    COMMAND_LABELS,
    DESIGN_AIMS,
    EMPHASES,
    FORBIDDEN,
    IMPERATIVES,
    MODALS,
    OBLIGATION,
    POLICY_LABELS,
    PROHIBITIONS,
    STRONG_MODALS,
    SUBJECTS,
)
from lithify.memory.rulebook.wording import Wording

# How many words after the opening may hold the deciding word.
BAN_REACH = 6
CONDITION_REACH = 14
UNIVERSAL_REACH = 5
DUTY_REACH = 4
LONGEST_TRIGGER = 4


def opening(words: Wording, i: int) -> int:
    """The mask of every opening that the word at a sentence start begins."""
    if not words.words[i].starts_sentence:
        return 0
    mask = 0
    for rule in _OPENINGS:
        mask |= rule(words, i)
    return mask


def _emphasis(words: Wording, i: int) -> int:
    return OBLIGATION if words.text(i) in EMPHASES and _is_imperative(words, i + 1) else 0


def _refusal(words: Wording, i: int) -> int:
    never = words.reads(i, "never") and _is_imperative(words, i + 1)
    do_not = words.reads(i, "do", "not") and _is_imperative(words, i + 2)
    return FORBIDDEN if never or do_not else 0


def _absence(words: Wording, i: int) -> int:
    """Also fires on "No idea", a false positive the lexicon is known for."""
    return FORBIDDEN if words.reads(i, "no") and words.text(i + 1) else 0


def _reminder(words: Wording, i: int) -> int:
    return OBLIGATION if words.reads(i, "don", "t", "forget") else 0


def _command(words: Wording, i: int) -> int:
    if not _is_imperative(words, i):
        return 0
    aims = any(words.reads(i - len(aim), *aim) for aim in DESIGN_AIMS)
    return 0 if aims and words.words[i].before.strip() == ":" else OBLIGATION


def _default_requirement(words: Wording, i: int) -> int:
    labelled = words.reads(i, "default", "requirement") and words.words[i + 1].precedes(":")
    return OBLIGATION if labelled and (_is_imperative(words, i + 2) or words.reads(i + 2, "every")) else 0


def _ban(words: Wording, i: int) -> int:
    banned = any(words.text(j) in PROHIBITIONS for j in words.span(i + 1, BAN_REACH))
    return FORBIDDEN if words.reads(i, "bid") and banned else 0


def _condition(words: Wording, i: int) -> int:
    if not words.reads(i, "if"):
        return 0
    clauses = (j for j in words.span(i + 1, CONDITION_REACH) if words.words[j].follows(",;:"))
    return next(filter(None, (_consequence(words, j) for j in clauses)), 0)


def _consequence(words: Wording, i: int) -> int:
    if _is_imperative(words, i):
        return OBLIGATION
    if words.reads(i, "make", "sure", "to") and _is_imperative(words, i + 3):
        return OBLIGATION
    return FORBIDDEN if words.reads(i, "do", "not") and _is_imperative(words, i + 2) else 0


def _command_label(words: Wording, i: int) -> int:
    colon = any(words.words[j].precedes(":") for j in words.span(i, 2))
    return OBLIGATION if words.text(i) in COMMAND_LABELS and colon else 0


def _policy_label(words: Wording, i: int) -> int:
    if (words.text(i), words.text(i + 1)) not in POLICY_LABELS:
        return 0
    first, second = words.words[i : i + 2]
    return OBLIGATION if first.is_capital and second.is_capital and second.precedes(":") else 0


def _trigger_label(words: Wording, i: int) -> int:
    """`ON LOW DISK -> …`: capitals from ON up to the arrow."""
    if not words.reads(i, "on") or not words.words[i].is_capital:
        return 0
    for j in words.span(i + 1, LONGEST_TRIGGER - 1):
        if not words.words[j].is_capital:
            return 0
        if words.words[j].precedes("->"):
            return OBLIGATION
    return 0


def _universal(words: Wording, i: int) -> int:
    bound = any(words.text(j) in MODALS for j in words.span(i + 1, UNIVERSAL_REACH))
    return OBLIGATION if words.reads(i, "every") and bound else 0


def _duty(words: Wording, i: int) -> int:
    lengths = (len(subject) for subject in SUBJECTS if words.reads(i, *subject))
    length = next(lengths, 0)
    bound = any(_binds(words, j) for j in words.span(i + length, DUTY_REACH))
    return OBLIGATION if length and bound else 0


def _binds(words: Wording, i: int) -> bool:
    return words.text(i) in STRONG_MODALS or (words.reads(i, "should", "be") and _is_imperative(words, i + 2))


def _is_imperative(words: Wording, i: int) -> bool:
    return words.text(i) in IMPERATIVES


_OPENINGS: tuple[Callable[[Wording, int], int], ...] = (
    _emphasis,
    _refusal,
    _absence,
    _reminder,
    _command,
    _default_requirement,
    _ban,
    _condition,
    _command_label,
    _policy_label,
    _trigger_label,
    _universal,
    _duty,
)
