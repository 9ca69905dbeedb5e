"""What unrelated texts score in a model's space, so that a threshold means the same for every model.

A model keeps the cosines of texts that have nothing to do with each other at a level of its own: MiniLM at .06, nomic
at .55, snowflake-arctic at .66. The constants of gate, renewal and time were chosen for MiniLM's; whoever compares a
cosine with one of them moves it there first.
"""

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from lithify.memory.bounds import FloatArray
from lithify.memory.vectors.tiers import tier_vector

# No two of these share a subject.
UNRELATED_TEXTS = (
    "The bakery on the corner sells rye bread in the morning.",
    "Compile the kernel with debug symbols enabled.",
    "My sister plays the violin in an orchestra.",
    "Volcanic ash closed the airport for two days.",
    "The invoice is due at the end of the quarter.",
    "He scored a late goal and the stadium erupted.",
    "Photosynthesis turns sunlight into sugar.",
    "The tenant must repair the leaking roof.",
)

# The level for which constants are chosen.
USUAL = 0.06

Number = TypeVar("Number", float, FloatArray)


class Background(NamedTuple):
    """Mean cosines of unrelated texts; a model that is given questions in another way keeps these at another level."""

    documents: float = USUAL  # of two documents
    questions: float = USUAL  # of a question and a document


USUAL_BACKGROUND = Background()


def relatedness(cosine: Number, background: float) -> Number:
    """Returns 0 for what unrelated texts score, 1 for identical ones; a space without spread tells nothing apart."""
    return (cosine - background) / (1.0 - background) if background < 1.0 else cosine * 0.0


def to_usual(cosine: Number, background: float) -> Number:
    """Returns the cosine that a model with the usual level would give: what is identical stays 1."""
    if background == USUAL:
        return cosine  # exactly
    return USUAL + (1.0 - USUAL) * relatedness(cosine, background)


def from_usual(cosine: float, background: float) -> float:
    """Returns the cosine of a model that stands for one at the usual level: the inverse of `to_usual`."""
    return 1.0 - (1.0 - cosine) * (1.0 - background) / (1.0 - USUAL)


def measure_background(documents: npt.ArrayLike, questions: npt.ArrayLike) -> Background:
    """Measures the level from vectors of `UNRELATED_TEXTS`, embedded as documents and as questions."""
    rows, asked = (tier_vector(vectors, np.shape(vectors)[1]) for vectors in (documents, questions))
    return Background(_mean_of_different(rows, rows), _mean_of_different(asked, rows))


def _mean_of_different(rows: FloatArray, others: FloatArray) -> float:
    """Returns the mean cosine of a row with the others at another place."""
    products = rows @ others.T
    return float((products.sum() - np.trace(products)) / (len(rows) * (len(rows) - 1)))
