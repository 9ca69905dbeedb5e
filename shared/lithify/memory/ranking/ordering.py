"""The one order of equal scores, so that the same store always gives the same answer (spec 02 §4)."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from lithify.memory.columns import FloatArray

Positions = npt.NDArray[np.intp]


def rank_key(score: float, similarity: float, collection: str, record_id: str) -> tuple[float, float, str, str]:
    """Ascending sort key: score and similarity fall, collection and id rise."""
    return -score, -similarity, collection, record_id


def rank_order(scores: FloatArray, similarities: FloatArray, name_of: Callable[[int], tuple[str, str]]) -> Positions:
    """Positions in the order of `rank_key`; `name_of` gives the (collection, id) of a position.

    Names are compared only if two positions tie in both numbers, which spares a thousand tuples otherwise.
    """
    order = np.lexsort((-similarities, -scores))
    ties = (np.diff(scores[order]) == 0.0) & (np.diff(similarities[order]) == 0.0)
    if not ties.any():
        return order
    keys = [rank_key(*numbers, *name_of(i)) for i, numbers in enumerate(zip(scores, similarities, strict=True))]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
