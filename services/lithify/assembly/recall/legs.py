"""The two legs of a search, by meaning and by words: what each is asked, and what both found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from lithify.memory.ranking.fusion import shortlist
from lithify.memory.vectors.tiers import FULL_TIER
from lithify.store import LEXICAL, Hit, Query, Record, SparseVector, Vector, Where
from lithify.store.memory_record import PIECE

DENSE: Final = "dense"
BOTH: Final = frozenset({DENSE, LEXICAL})
WORDS_ONLY: Final = frozenset({LEXICAL})
# Enough to know where a hit stands and whose copy it is: those that matter are read again, with the turns around them.
PLACE_FIELDS: Final = ("kind", "user", "session", "seq", "event_id", "parent")

SourceTurn = tuple[bool, str]
"""Names the turn a record was made of, or the record itself; a turn and a record may be named alike."""


@dataclass(frozen=True, slots=True)
class Legs:
    """Holds what two legs of a search found: every hit once, and the score each leg gave it, as the engine counts."""

    hits: dict[str, Hit] = field(default_factory=dict)
    dense: dict[str, float] = field(default_factory=dict)
    lexical: dict[str, float] = field(default_factory=dict)
    by_meaning: Sequence[Hit] = ()  # as found, best first
    by_words: Sequence[Hit] = ()

    def cut(self, depth: int) -> "Legs":
        """Returns what the legs would have found, had each been asked for fewer places."""
        return read_legs(fold_copies(self.by_meaning, depth), fold_copies(self.by_words, depth), None)

    def add(self, hits: Sequence[Hit]) -> "Legs":
        """Returns the same with hits by meaning that stand in neither list."""
        scores = {hit.id: hit.score for hit in hits}
        return replace(self, hits=self.hits | {hit.id: hit for hit in hits}, dense=self.dense | scores)

    def fold_pieces(self, wholes: Mapping[str, Record]) -> "Legs":
        """Returns the same with long records in the places of their pieces, whose whole each is by its id."""
        if not any(map(is_piece, self.hits.values())):
            return self
        by_meaning = fold_hits(self.by_meaning, wholes)
        by_words = fold_hits(self.by_words, wholes)
        names = {key: wholes[key].id if key in wholes else key for key in self.hits}
        legs = read_legs(by_meaning, by_words, None)
        kept = {key: score for key, score in self.dense.items() if names[key] in legs.hits}
        return replace(legs, dense=_best_copies(kept, names))

    def shortlist(self, size: int) -> list[Hit]:
        """Returns the hits of the best `size` source turns by both legs, best first; copies stand together."""
        copies: dict[SourceTurn, list[Hit]] = {}
        for hit in self.hits.values():
            copies.setdefault(source_turn(hit), []).append(hit)
        names = {hit.id: group[0].id for group in copies.values() for hit in group}
        best = shortlist(_best_copies(self.dense, names), _best_copies(self.lexical, names), size)
        return [hit for first in best for hit in copies[source_turn(self.hits[first])]]


def _best_copies(scores: Mapping[str, float], names: Mapping[str, str]) -> dict[str, float]:
    best: dict[str, float] = {}
    for key, score in scores.items():
        best[names[key]] = max(score, best.get(names[key], score))
    return best


def source_turn(hit: Hit) -> SourceTurn:
    turn = hit.payload.get("event_id")
    return (True, turn) if turn else (False, hit.payload.get("parent") or hit.id)


def keep_others(words: tuple[Sequence[int], Sequence[float]], known: frozenset[int]) -> SparseVector:
    """Returns words without those that are known, unless a question has no others."""
    asked = list(zip(*words, strict=True))
    wanted = [(index, weight) for index, weight in asked if index not in known] or asked
    return SparseVector(tuple(index for index, _ in wanted), tuple(weight for _, weight in wanted))


def leave_out(where: Where, shown: frozenset[str]) -> Where:
    """Excludes turns that are shown anyway, and with them their copies, which carry the turn's id (X42)."""
    return where.none_of("event_id", sorted(shown))


def leave_out_divided(where: Where) -> Where:
    """Leaves long records out: their pieces are searched in their place."""
    return where.differs("divided", True)


def dense_query(where: Where, depth: int, vector: Vector, *, places_only: bool) -> Query:
    searched = leave_out_divided(where)
    return Query(searched, FULL_TIER, vector, depth, fields=PLACE_FIELDS if places_only else None)


def lexical_query(where: Where, depth: int, words: SparseVector, *, places_only: bool, cosines: bool) -> Query:
    """Asks by words; with `cosines`, a record found by its words brings its full vector along."""
    return Query(
        leave_out_divided(where),
        LEXICAL,
        words,
        depth,
        with_vectors=(FULL_TIER,) if cosines else (),
        fields=PLACE_FIELDS if places_only else None,
    )


def read_legs(by_meaning: Sequence[Hit], by_words: Sequence[Hit], vector: Vector | None) -> Legs:
    dense = {hit.id: hit for hit in by_meaning}
    lexical = {hit.id: hit for hit in by_words}
    cosines = {key: hit.score for key, hit in dense.items()}
    if vector is not None:
        unscored = (hit for key, hit in lexical.items() if key not in dense and FULL_TIER in hit.vectors)
        cosines.update({hit.id: float(np.dot(hit.vectors[FULL_TIER], vector)) for hit in unscored})
    words = {key: hit.score for key, hit in lexical.items()}
    return Legs(dense | lexical, cosines, words, by_meaning, by_words)


def join_legs(parts: Sequence[Legs]) -> Legs:
    """Joins what was found in several pools: a list of all, best first, for each leg."""
    by_meaning = [hit for part in parts for hit in part.by_meaning]
    by_words = [hit for part in parts for hit in part.by_words]
    return read_legs(sorted(by_meaning, key=rank_hit), sorted(by_words, key=rank_hit), None)


def rank_hit(hit: Hit) -> tuple[float, str]:
    return -hit.score, hit.id


def fold_copies(hits: Sequence[Hit], places: int) -> list[Hit]:
    """Returns the hits of the first `places` source turns; the copies of one turn, as found, take one place.

    Of the pieces of a long record the best one stands for all.
    """
    taken: set[SourceTurn] = set()
    in_pieces: set[SourceTurn] = set()
    kept = []
    for hit in hits:
        turn = source_turn(hit)
        if is_piece(hit) and turn in in_pieces:
            continue
        if turn in taken or len(taken) < places:
            taken.add(turn)
            kept.append(hit)
            if is_piece(hit):
                in_pieces.add(turn)
    return kept


def fold_hits(hits: Sequence[Hit], wholes: Mapping[str, Record]) -> list[Hit]:
    """Puts long records in the places of their pieces; a piece whose record is gone is gone, too."""
    folded: dict[str, Hit] = {}
    for hit in hits:
        whole = wholes.get(hit.id)
        if whole is not None:
            hit = replace(hit, id=whole.id, payload=whole.payload)  # noqa: PLW2901 - it is the same hit, folded
        if hit.payload["kind"] != PIECE:
            folded.setdefault(hit.id, hit)
    return list(folded.values())


def is_piece(hit: Hit) -> bool:
    return bool(hit.payload["kind"] == PIECE)


def limits_for(places: int) -> tuple[int, int, int]:
    """Returns how many hits to ask for, at first, and again while copies and pieces take too many of them."""
    return places + places // 2, 3 * places, 9 * places
