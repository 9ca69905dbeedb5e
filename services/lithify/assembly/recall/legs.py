"""The two legs of a search, by meaning and by words: their queries, and what each of them found."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from lithify.store import LEXICAL, TIER_NAMES, Hit, Query, SparseVector, Vector, Where

DENSE: Final = "dense"
BOTH: Final = frozenset({DENSE, LEXICAL})
FULL_TIER: Final = TIER_NAMES[-1]
# Enough to know where a hit stands: those that matter are read again, with the turns around them.
PLACE_FIELDS: Final = ("kind", "user", "session", "seq")


@dataclass(frozen=True, slots=True)
class Legs:
    """Every hit once, and the score each leg gave it, as the engine counts."""

    hits: dict[str, Hit] = field(default_factory=dict)
    dense: dict[str, float] = field(default_factory=dict)
    lexical: dict[str, float] = field(default_factory=dict)


def dense_query(where: Where, depth: int, vector: Vector, *, places_only: bool) -> Query:
    return Query(where, FULL_TIER, vector, depth, fields=PLACE_FIELDS if places_only else None)


def lexical_query(where: Where, depth: int, words: SparseVector, *, places_only: bool, cosines: bool) -> Query:
    """With `cosines`, a record found by its words brings its full vector along."""
    needed, fields = (FULL_TIER,) if cosines else (), PLACE_FIELDS if places_only else None
    return Query(where, LEXICAL, words, depth, needed, fields=fields)


def read_legs(by_meaning: Iterable[Hit], by_words: Iterable[Hit], vector: Vector | None) -> Legs:
    dense, lexical = {hit.id: hit for hit in by_meaning}, {hit.id: hit for hit in by_words}
    cosines = {key: hit.score for key, hit in dense.items()}
    if vector is not None:
        unscored = (hit for key, hit in lexical.items() if key not in dense and FULL_TIER in hit.vectors)
        cosines.update({hit.id: float(np.dot(hit.vectors[FULL_TIER], vector)) for hit in unscored})
    return Legs(dense | lexical, cosines, {key: hit.score for key, hit in lexical.items()})
