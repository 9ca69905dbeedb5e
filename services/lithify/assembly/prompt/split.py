"""Splits a prompt's memory for prompt caches: a stable part that no question changes, and a fresh part for its end."""

from collections.abc import Sequence
from dataclasses import replace

from lithify.assembly.prompt.context import Context, pack_context, plan_context
from lithify.assembly.prompt.ingredients import Ingredients, Terms
from lithify.assembly.prompt.selection import make_unscored
from lithify.authored import Rules
from lithify.memory.ranking.candidate import Candidate, Kind
from lithify.memory.ranking.duplicates import distinct_turns


def compose_stable(rules: Rules, instructions: Sequence[Candidate], terms: Terms) -> Context:
    """Composes rules and standing instructions as if nothing were asked and nobody had said anything.

    Nothing else takes part, neither question, session, time nor documents, so equal rules and instructions give equal
    bytes. Of instructions, oldest first, the newest are taken while their share lasts, and shown oldest first: a new
    one is added at the end.
    """
    ingredients = Ingredients("", hard=rules.hard, soft=rules.soft)
    known = replace(ingredients, candidates=instructions)
    planned = plan_context(known, replace(terms, now_ms=0))
    newest_first = tuple(distinct_turns([make_unscored(candidate) for candidate in reversed(instructions)]))
    packed = pack_context(replace(planned, ingredients=known, advice=newest_first), {}, None)
    composition = replace(packed.composition, guidance=packed.composition.guidance[::-1])
    return replace(packed, composition=composition, text=composition.text)


def leave_to_fresh(ingredients: Ingredients, terms: Terms, stable: Context) -> tuple[Ingredients, Terms]:
    """Returns what is left to be said after the stable part, and the tokens left for it.

    Where the rules take the whole budget, nothing else is said but what had no room.
    """
    left = max(0.0, terms.tau - stable.tokens)
    advised = {item.source_turn for item in stable.composition.guidance if item.source_turn}
    candidates = [
        one for one in ingredients.candidates if one.kind is not Kind.GUIDANCE and one.source_turn not in advised
    ]
    return replace(ingredients, hard=(), soft=(), candidates=candidates), replace(terms, tau=left)
