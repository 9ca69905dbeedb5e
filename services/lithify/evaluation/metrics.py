"""How much of a question's evidence a ranking shows: pure functions of names and places."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

CUTS: Final = (1, 5, 10, 20)
MEASURES: Final = ("fraction", "any", "all", "ndcg")

Scores = dict[str, dict[str, float]]
"""Measure → cut → mean over questions."""


def fraction(found: Iterable[str], evidence: frozenset[str]) -> float:
    return len(evidence.intersection(found)) / len(evidence)


def ndcg(ranked: Sequence[str], evidence: frozenset[str], cut: int) -> float:
    """Binary gains; a name shown twice counts once, at its better place."""
    first = {name: place for place, name in reversed(list(enumerate(ranked[:cut])))}
    gained = sum(_discount(place) for name, place in first.items() if name in evidence)
    return gained / sum(_discount(place) for place in range(min(len(evidence), cut)))


def score_ranking(ranked: Sequence[str], evidence: frozenset[str], cut: int) -> dict[str, float]:
    """All measures of one question at one cut; `evidence` must not be empty."""
    share = fraction(ranked[:cut], evidence)
    return {
        "fraction": share,
        "any": float(share > 0.0),
        "all": float(share == 1.0),
        "ndcg": ndcg(ranked, evidence, cut),
    }


def mean_scores(rankings: Sequence[tuple[Sequence[str], frozenset[str]]]) -> Scores:
    """Means over all questions, each a ranking and its evidence."""
    rows = {cut: [score_ranking(ranked, evidence, cut) for ranked, evidence in rankings] for cut in CUTS}
    return {measure: {str(cut): mean([row[measure] for row in rows[cut]]) for cut in CUTS} for measure in MEASURES}


def first_places(ranked: Iterable[str], homes: Mapping[str, str]) -> list[str]:
    """The sessions of ranked turns, each at the place of its best turn."""
    return list(dict.fromkeys(homes[name] for name in ranked if name in homes))


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value below or at which this share of all values lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else 0.0


def _discount(place: int) -> float:
    return 1.0 / math.log2(place + 2)
