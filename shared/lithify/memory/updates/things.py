"""Reads of what something is said: "my dog's name" is the attribute `name` of the dog."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lithify.memory.updates.grammar import Grammar, Noun

MAX_BARE: Final = 3  # words of a thing that has no article


@dataclass(frozen=True, slots=True)
class Thing:
    """Names what is spoken of, in normal words; `noun` is set if its last word is an attribute with one value.

    `common` things are many: which meeting "the meeting" is, only its conversation knows.
    """

    name: str
    head: str
    noun: Noun | None
    common: bool
    bare: bool
    new: bool


def read_thing(text: str, grammar: Grammar) -> Thing | None:
    """Returns the thing that the words name; None for pronouns, and for one of several."""
    lists = grammar.words
    words = text.split()
    named = [word.removesuffix("'s") for word in words]
    bare = words[0] not in lists["owners"] and named == words
    if not lists["pronouns"].isdisjoint(named) or (bare and not lists["joints"].isdisjoint(named)):
        return None
    front, back = _split_joint(named, grammar)
    kept = [word for word in front if word not in lists["fillers"]]
    qualifiers = [word for word in back if word not in lists["fillers"]]
    if not kept or (bare and len(kept) > MAX_BARE):
        return None
    start, noun = _find_noun(kept, grammar)
    if not lists["passing"].isdisjoint((*qualifiers, *kept[:start])) or (noun is None and kept[-1] in lists["passing"]):
        return None
    return Thing(
        name=" ".join((*qualifiers, *kept[:start], *([noun.name or kept[-1]] if noun else kept[start:]))),
        head=kept[-1],
        noun=noun,
        common=not qualifiers and len(kept) == 1 and kept[0] in lists["common"],
        bare=bare,
        new=not lists["new"].isdisjoint(named),
    )


def _split_joint(words: Sequence[str], grammar: Grammar) -> tuple[Sequence[str], Sequence[str]]:
    """Returns what is named and what it belongs to: the budget, and the kitchen it is for."""
    for place, word in enumerate(words):
        if place and word in grammar.words["joints"]:
            return words[:place], words[place + 1 :]
    return words, ()


def _find_noun(words: Sequence[str], grammar: Grammar) -> tuple[int, Noun | None]:
    """Returns the longest ending of the words that is an attribute, and where it begins.

    A favourite is one whatever it is a favourite of.
    """
    if not grammar.words["favorites"].isdisjoint(words):
        return len(words) - 1, grammar.named
    for start in range(len(words)):
        noun = grammar.nouns.get(" ".join(words[start:]))
        if noun is not None:
            return start, noun
    return len(words) - 1, None
