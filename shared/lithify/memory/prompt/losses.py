"""Says what a prompt leaves out for want of room, each loss once with its number."""

import re
from collections import Counter

from lithify.memory.prompt.composition import Composition, Limit

_LOSS = re.compile(r"\A\d+ of the ")


def describe_losses(composition: Composition, *, tools: int = 0, unplaced: int = 0, places: int = 0) -> list[str]:
    """Returns what a budget cut or kept out; empty means that everything found worth showing is there, in full.

    `tools` are results of tools that the tail leaves out, `unplaced` memories that found none of the `places`.
    """
    fixed = composition.fixed
    recalled = composition.guidance + composition.recalled
    cuts = Counter(cut.limit for cut in composition.cut[len(fixed.cut) :])
    counted = (
        (sum(item.is_excerpt for item in fixed.tail), "newest turns shown as excerpt"),
        (fixed.missing_turns, "newest turns without room"),
        (tools, "tool results without room"),
        (len(fixed.cut), "soft rules without room"),
        (cuts[Limit.GUIDANCE], "standing instructions without room"),
        (sum(item.is_excerpt for item in recalled), "memories shown as excerpt"),
        (cuts[Limit.SUMMARY], "memories told by their summary"),
        (cuts[Limit.RETRIEVAL] + cuts[Limit.DEGRADED], "memories without room"),
        (unplaced, f"memories beyond the {places} places"),
    )
    return [name_loss(number, what) for number, what in counted if number]


def name_loss(number: int, what: str) -> str:
    return f"{number} of the {what}"


def is_loss(reason: str) -> bool:
    """Says whether a reason in `degraded` tells of want of room, and not of something that was away or slow."""
    return _LOSS.match(reason) is not None
