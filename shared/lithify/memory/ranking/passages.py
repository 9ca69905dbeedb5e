"""Judges a turn together with the turns around it and with its session.

A reply often holds the answer, but not the words, of a question; the best passage of a session vouches for the rest.
"""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from lithify.memory.bounds import FloatArray, Positions, Share, finite
from lithify.memory.ranking.relevance import scale_by_maximum

# Of the weakest cosine in a list, this share is taken for the level at which the model keeps all its cosines: enough
# to widen a narrow band, not so much that a list of one loses its only member.
BAND = 0.95

Place: TypeAlias = tuple[str, str, int]  # user, session, number of the turn in it
Neighbours: TypeAlias = list[tuple[float, Positions]]  # a share, and whom each record gets it from


class Window(NamedTuple):
    """It says what share of its own weight a turn lends to those after it and before it, nearest first."""

    before: tuple[Share, ...] = ()
    after: tuple[Share, ...] = ()

    @property
    def shares(self) -> dict[int, float]:
        """Returns the shares by distance; negative ones stand before the turn."""
        earlier = {-distance: share for distance, share in enumerate(self.before, start=1)}
        return earlier | dict(enumerate(self.after, start=1))


ALONE = Window()
# What was said before counts more: replies lean on their questions. Recall changes by less than .01 between
# (.6, .4) and (.8, .6), and falls by .02 with one turn on each side.
AROUND = Window(before=(0.7, 0.5), after=(0.5, 0.3))


def find_neighbours(places: Sequence[Place | None], window: Window) -> Neighbours:
    """Returns a row for each distance of the window; a position past the end means that there is no such turn."""
    known = {place: position for position, place in enumerate(places) if place is not None}
    nobody = len(places)

    def find(place: Place | None, distance: int) -> int:
        return nobody if place is None else known.get((*place[:2], place[2] + distance), nobody)

    return [
        (share, np.array([find(place, distance) for place in places], dtype=np.intp))
        for distance, share in window.shares.items()
    ]


def rarity(weights: FloatArray) -> FloatArray:
    """Returns the IDF of each row's word among the records at hand.

    Counted over them and not over the store: what is common in this very conversation, such as the names of those
    who speak, tells nothing here, however rare it is elsewhere.
    """
    records = weights.shape[1]
    holding = np.count_nonzero(weights, axis=1)
    inverse: FloatArray = np.log1p((records - holding + 0.5) / (holding + 0.5))
    return inverse


def passage_words(weights: FloatArray, around: Neighbours) -> FloatArray:
    """Returns BM25 of each record with its neighbours: every word counts once, where it is said best.

    `weights` has a row for each word of the query and a column for each record. Adding up the scores of the
    neighbours instead would count a word again for each turn that repeats it.
    """
    lent = np.pad(weights, ((0, 0), (0, 1)))
    best = weights
    for share, positions in around:
        best = np.maximum(best, share * lent[:, positions])
    summed: FloatArray = best.sum(axis=0)
    return summed


def passage_cosines(vectors: FloatArray, query: npt.ArrayLike, around: Neighbours) -> FloatArray:
    """Compares the query with the weighted mean of each record's vector and those of its neighbours, by cosine."""
    lent = np.pad(vectors, ((0, 1), (0, 0)))
    mixed = vectors + sum((share * lent[positions] for share, positions in around), np.zeros_like(vectors))
    target = np.asarray(query, dtype=np.float64)
    # Not by `@`: BLAS would wake its threads for this little, and on a busy machine wait for them.
    dots = np.einsum("nd,d->n", mixed, target)
    lengths = np.sqrt(np.einsum("nd,nd->n", mixed, mixed) * np.einsum("d,d->", target, target))
    return finite(dots / np.where(lengths > 0.0, lengths, math.inf))


def spread_cosines(cosines: npt.ArrayLike) -> FloatArray:
    """Spreads the cosines of one list over [0, 1], whatever band the model keeps them in; the best is 1."""
    values = finite(cosines)
    weakest = float(values.min(initial=math.inf, where=values > 0.0))
    return scale_by_maximum(values, floor=BAND * weakest if math.isfinite(weakest) else 0.0)


def session_priors(scores: FloatArray, sessions: Sequence[Hashable | None]) -> list[float | None]:
    """Returns for each record the best score of its session, relative to the best session; None without a session.

    The maximum and not the sum: a long session is not a better one.
    """
    best: dict[Hashable, float] = {}
    for session, score in zip(sessions, scores.tolist(), strict=True):
        if session is not None:
            best[session] = max(score, best.get(session, 0.0))
    priors = dict(zip(best, scale_by_maximum(np.array(list(best.values()))).tolist(), strict=True))
    return [None if session is None else priors[session] for session in sessions]
