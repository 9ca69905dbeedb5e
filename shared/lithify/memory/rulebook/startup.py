"""Refuses to start when the hard rules cannot fit into their share of the prompt (spec 06 §7)."""

import math
from collections import Counter
from collections.abc import Iterable

from lithify.errors import Misconfigured
from lithify.memory.prompt.budget import TOLERANCE
from lithify.memory.rulebook.document import AuthoredNode

LARGEST_NAMED = 3  # documents the error lists; enough to know where to cut


def check_hard_reserve(hard_rules: Iterable[AuthoredNode], share: float | None, budget: float | None) -> None:
    """Raises `Misconfigured` if the hard rules of all documents together exceed share · budget (X33).

    `share` is α1 of a normalised profile, hence a fraction; unset it reserves nothing. `budget` is τ at start.
    """
    costs: Counter[str] = Counter()
    for node in hard_rules:
        costs[node.source_doc] += node.token_estimate
    if share is None or not costs:
        return
    if budget is None:
        raise Misconfigured(
            f"hard rules need {costs.total()} tokens and a hard share of {share:g} is set, "
            "but no startup token budget is configured; set one or unset the share",
        )
    if costs.total() > share * budget + TOLERANCE:
        raise Misconfigured(_over_reserve(costs, share, budget))


def _over_reserve(costs: Counter[str], share: float, budget: float) -> str:
    allowed = math.floor(share * budget + TOLERANCE)
    ranked = sorted(costs.items(), key=lambda cost: (-cost[1], cost[0]))[:LARGEST_NAMED]
    largest = ", ".join(f"{name} ({tokens})" for name, tokens in ranked)
    return (
        f"hard rules need {costs.total()} tokens, {allowed} are allowed ({share:g} of {budget:.0f}); "
        f"largest documents: {largest}"
    )
