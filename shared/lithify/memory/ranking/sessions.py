"""How much a whole session speaks of the query: its best passage vouches for the rest of it."""

from collections.abc import Hashable, Sequence

import numpy as np

from lithify.memory.columns import FloatArray
from lithify.memory.ranking.relevance import by_maximum


def session_priors(scores: FloatArray, sessions: Sequence[Hashable | None]) -> list[float | None]:
    """For each record the best score of its session, relative to the best session; None where there is no session.

    The maximum and not the sum: a long session is not a better one.
    """
    best: dict[Hashable, float] = {}
    for session, score in zip(sessions, scores.tolist(), strict=True):
        if session is not None:
            best[session] = max(score, best.get(session, 0.0))
    priors = dict(zip(best, by_maximum(np.array(list(best.values()))).tolist(), strict=True))
    return [None if session is None else priors[session] for session in sessions]
