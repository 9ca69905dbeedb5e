"""Says of everything that was found why it is in the prompt or not: the heart of a receipt."""

from collections.abc import Iterator
from enum import StrEnum

from lithify.assembly.prompt.context import Context
from lithify.memory.prompt.composition import Limit


class Verdict(StrEnum):
    INJECTED = "injected"
    SHOWN = "shown"  # it stands in the recent tail anyway
    WEAK = "weak"  # below the similarity floor, or beyond the coarse list
    COPY = "copy"  # a better copy of the same turn competes
    OUTRANKED = "outranked"  # beyond the final list
    CUT_RETRIEVAL = "cut_retrieval"  # it won its place, but the budget of recall was used up
    CUT_GUIDANCE = "cut_guidance"
    CUT_DEGRADED = "cut_degraded"  # rules and newest turns alone overrun the budget


CUTS = {
    Limit.RETRIEVAL: Verdict.CUT_RETRIEVAL,
    Limit.GUIDANCE: Verdict.CUT_GUIDANCE,
    Limit.DEGRADED: Verdict.CUT_DEGRADED,
}


def verdicts(context: Context) -> dict[str, Verdict]:
    """By record id; the last word on a record wins, and the steps of the assembly are told in their order."""
    return {record: verdict for step in _steps(context) for record, verdict in step}


def _steps(context: Context) -> Iterator[Iterator[tuple[str, Verdict]]]:
    draft, composition = context.draft, context.composition
    tail = {item.id for item in composition.fixed.tail}
    ranked = [row.candidate for row in (*draft.considered, *draft.advice)]
    chosen = [item.candidate for item in context.projection.order] + [row.candidate for row in draft.advice]
    best = {candidate.source_turn: candidate.id for candidate in chosen if candidate.source_turn}
    yield ((c.id, Verdict.WEAK) for c in draft.ingredients.candidates)
    yield ((c.id, Verdict.SHOWN) for c in draft.ingredients.candidates if c.source_turn in tail)
    yield ((c.id, Verdict.OUTRANKED) for c in ranked)
    yield ((c.id, Verdict.COPY) for c in ranked if best.get(c.source_turn or "", c.id) != c.id)
    yield ((cut.id, CUTS[cut.limit]) for cut in composition.cut if cut.limit in CUTS)
    yield ((item.id, Verdict.INJECTED) for item in composition.guidance + composition.recalled)
