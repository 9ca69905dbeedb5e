"""Reads what a standing instruction is about, so that a later one that says otherwise can take its place.

"Always answer in English" and "from now on answer in German" hold one claim each about the language of answers.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from lithify.memory.guidance.detector import find_in_language
from lithify.memory.guidance.grammar import LANGUAGES, InstructionGrammar, load_instructions
from lithify.memory.updates.claims import Claim, read_claims

PREFIX: Final = "instruction"
MAX_WORDS: Final = 8

_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")


def read_instructions(text: str) -> tuple[Claim, ...]:
    """Returns what the standing instructions of a text claim, each attribute once; nothing if it has none."""
    claims: dict[tuple[str, frozenset[str]], Claim] = {}
    for language in LANGUAGES:
        grammar = load_instructions(language)
        for instruction in find_in_language(text, grammar):
            words = _WORD.findall(instruction.clause)
            found = [*_read_topics(instruction.clause, words, grammar)] or [*_read_order(words, grammar)]
            claims |= {(claim.attribute, claim.value): claim for claim in found}
    return tuple(claims.values())


def read_statement(text: str) -> tuple[Claim, ...]:
    """Returns all that a text claims: facts, and what its standing instructions are about."""
    return (*read_claims(text), *read_instructions(text))


def name_claims(text: str) -> tuple[str, ...]:
    """Returns the attributes that a text states a value of, each once; records are found by them."""
    return tuple(dict.fromkeys(claim.attribute for claim in read_statement(text)))


def _read_topics(sentence: str, words: list[str], grammar: InstructionGrammar) -> Iterator[Claim]:
    for topic in grammar.topics:
        if topic.about.search(sentence) is None:
            continue
        wanted = _read_wanted(words, topic.values, grammar)
        told = [value for value, is_wanted in wanted.items() if is_wanted] or list(wanted)
        if len(told) == 1:
            [value] = told
            yield Claim(f"{PREFIX} {topic.name}", frozenset({value}), ended=not wanted[value], changed=True)


def _read_wanted(words: list[str], values: Mapping[str, str], grammar: InstructionGrammar) -> dict[str, bool]:
    """Returns the values that are named, and of each whether it is wanted."""
    wanted: dict[str, bool] = {}
    for place, word in enumerate(words):
        value = values.get(word)
        if value is None:
            continue
        before = words[max(0, place - grammar.reach) : place]
        is_less_liked = bool(wanted) and before[-1:] != [] and before[-1] in grammar.behind
        wanted[value] = not _is_denied(before, grammar) and not is_less_liked
    return wanted


def _is_denied(before: list[str], grammar: InstructionGrammar) -> bool:
    nearest = next((word for word in reversed(before) if word in grammar.denied | grammar.affirmed), None)
    return nearest in grammar.denied


def _read_order(words: list[str], grammar: InstructionGrammar) -> Iterator[Claim]:
    """Yields the order itself: what it names, and whether it is to be done."""
    named = [word for word in words if word not in grammar.common]
    if not 1 < len(named) <= MAX_WORDS:
        return
    content = frozenset(_root(word, grammar) for word in named)
    denied = not grammar.denials.isdisjoint(words)
    yield Claim(f"{PREFIX} to {min(content)}", content, ended=denied, changed=True, polar=True)


def _root(word: str, grammar: InstructionGrammar) -> str:
    """Returns what the forms of a word share: "use", "using" and "uses"."""
    bare = word.removesuffix(grammar.progressive) if len(word) > 4 else word
    return bare.rstrip("es") or bare
