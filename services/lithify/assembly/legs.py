"""The two legs of a search, by meaning and by words: their queries, and what each of them found."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from lithify.store import LEXICAL, TIER_NAMES, Hit, Query, SparseVector, Vector, Where

DENSE: Final = "dense"
BOTH: Final = frozenset({DENSE, LEXICAL})
FULL_TIER: Final = TIER_NAMES[-1]


@dataclass(frozen=True, slots=True)
class Legs:
    """Every hit once, and the score each leg gave it, as the engine counts."""

    hits: dict[str, Hit] = field(default_factory=dict)
    dense: dict[str, float] = field(default_factory=dict)
    lexical: dict[str, float] = field(default_factory=dict)


def leg_queries(
    where: Where, depth: int, vector: Vector | None, words: SparseVector | None, *, cosines: bool
) -> list[Query]:
    """One query for each leg there is; with `cosines`, a record found by its words brings its full vector along."""
    queries = []
    if vector is not None:
        queries.append(Query(where=where, using=FULL_TIER, vector=vector, limit=depth))
    if words is not None and words.indices:
        needed = (FULL_TIER,) if cosines and vector is not None else ()
        queries.append(Query(where=where, using=LEXICAL, vector=words, limit=depth, with_vectors=needed))
    return queries


def read_legs(queries: Sequence[Query], lists: Sequence[Sequence[Hit]], vector: Vector | None) -> Legs:
    legs = Legs({hit.id: hit for hits in lists for hit in hits})
    for query, hits in zip(queries, lists, strict=True):
        scores = legs.lexical if query.using == LEXICAL else legs.dense
        scores.update({hit.id: hit.score for hit in hits})
    if vector is not None:
        unscored = (hit for key, hit in legs.hits.items() if key not in legs.dense and FULL_TIER in hit.vectors)
        legs.dense.update({hit.id: float(np.dot(hit.vectors[FULL_TIER], vector)) for hit in unscored})
    return legs
