"""Lets older hits fade when the newest is wanted (spec 10 §7, for memories instead of documents)."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from lithify.memory.ranking.hybrid import HybridScored
from lithify.memory.ranking.ordering import rank_order
from lithify.memory.ranking.recency import age_seconds, recency

SECONDS_PER_DAY: Final = 86_400.0


def faded(ranked: Sequence[HybridScored], half_life_days: float | None) -> list[HybridScored]:
    """Scores halved for every half-life by which a hit is older than the newest; in their new order.

    Older than the newest hit and not than now: among old memories the latest is as much wanted. What has no time is
    evergreen. Without a half-life nothing fades.
    """
    times = np.array([math.nan if row.candidate.ts is None else row.candidate.ts for row in ranked])
    if half_life_days is None or np.isnan(times).all():
        return list(ranked)
    ages = age_seconds(times, float(np.nanmax(times)))
    scores = np.array([row.score for row in ranked]) * recency(ages, math.log(2.0) / (half_life_days * SECONDS_PER_DAY))
    similarities = np.array([row.relevance for row in ranked])
    order = rank_order(scores, similarities, [row.candidate for row in ranked])
    return [ranked[i]._replace(score=float(scores[i])) for i in order.tolist()]
