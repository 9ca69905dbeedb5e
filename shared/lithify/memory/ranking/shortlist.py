"""Chooses which of the found records deserve a closer look, from the two lists the search legs returned."""

from collections.abc import Mapping

from lithify.memory.ranking.relevance import by_maximum


def shortlist(dense: Mapping[str, float], lexical: Mapping[str, float], size: int) -> list[str]:
    """The best ids by the mean of both scores, each relative to its list's best; absent from a list counts as 0."""
    meaning, words = relative(dense), relative(lexical)
    scores = {key: meaning.get(key, 0.0) + words.get(key, 0.0) for key in {**meaning, **words}}
    return sorted(scores, key=lambda key: (-scores[key], key))[:size]


def relative(scores: Mapping[str, float]) -> dict[str, float]:
    return dict(zip(scores, by_maximum(list(scores.values())).tolist(), strict=True))
