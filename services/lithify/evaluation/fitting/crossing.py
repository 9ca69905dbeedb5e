"""Fits on all conversations, and on all but one in turn: the difference is what was only learnt by heart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lithify.errors import Invalid
from lithify.evaluation.fitting.examples import Example
from lithify.evaluation.fitting.listwise import fit_weights
from lithify.memory.ranking.relevance import RelevanceWeights, relevance

CUTS: Final = (5, 10, 20)

Recall = dict[str, float]
"""Cut -> mean share of a question's evidence among the first so many."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The weights fitted on everything, what they reach there, and what such weights reach where they never looked."""

    weights: RelevanceWeights
    in_sample: Recall
    held_out: Recall
    by_conversation: dict[str, Recall]  # each by the weights fitted on the others
    shipped: Recall  # with the weights in use


def fit_across(examples: Sequence[Example], shipped: RelevanceWeights) -> Fit:
    """Raises Invalid for a single conversation: nothing could be held out."""
    conversations = list(dict.fromkeys(example.conversation for example in examples))
    if len(conversations) < 2:
        raise Invalid("a fit needs the questions of at least two conversations, to hold one out")
    weights = fit_weights(examples)
    shares = {name: held_out_shares(examples, name) for name in conversations}
    return Fit(
        weights=weights,
        in_sample=means(evidence_shares(examples, weights)),
        held_out=means([row for rows in shares.values() for row in rows]),
        by_conversation={name: means(rows) for name, rows in shares.items()},
        shipped=means(evidence_shares(examples, shipped)),
    )


def held_out_shares(examples: Sequence[Example], conversation: str) -> list[list[float]]:
    others = [example for example in examples if example.conversation != conversation]
    own = [example for example in examples if example.conversation == conversation]
    return evidence_shares(own, fit_weights(others))


def evidence_shares(examples: Sequence[Example], weights: RelevanceWeights) -> list[list[float]]:
    """For each question the share of its evidence found at each cut."""
    return [shares_of(example, weights) for example in examples]


def shares_of(example: Example, weights: RelevanceWeights) -> list[float]:
    best_first = np.argsort(-relevance(example.signals.T, weights), kind="stable")
    found = np.cumsum(example.is_evidence[best_first])
    return [float(found[min(cut, len(found)) - 1]) / example.known if len(found) else 0.0 for cut in CUTS]


def means(shares: Sequence[Sequence[float]]) -> Recall:
    columns = np.array(shares).reshape(-1, len(CUTS)).mean(axis=0)
    return dict(zip(map(str, CUTS), columns.tolist(), strict=True))
