"""The one order of equal scores, so that the same store always gives the same answer (spec 02 §4)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lithify.memory.columns import FloatArray
from lithify.memory.ranking.candidate import Candidate

Positions = npt.NDArray[np.intp]


def rank_key(score: float, similarity: float, record_id: str) -> tuple[float, float, str]:
    """Returns the ascending sort key by which score and similarity fall, and ids rise."""
    return -score, -similarity, record_id


def rank_order(scores: FloatArray, similarities: FloatArray, candidates: Sequence[Candidate]) -> Positions:
    """Returns the positions of the candidates in the order of `rank_key`.

    Ids are compared only if two positions tie in both numbers, which spares a thousand tuples otherwise.
    """
    order = np.lexsort((-similarities, -scores))
    ties = (np.diff(scores[order]) == 0.0) & (np.diff(similarities[order]) == 0.0)
    if not ties.any():
        return order
    numbers = zip(scores, similarities, candidates, strict=True)
    keys = [rank_key(score, similarity, candidate.id) for score, similarity, candidate in numbers]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
