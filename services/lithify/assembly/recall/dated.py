"""Searches all memories for dates: a question about time needs turns that no topic brings up (spec 09 §5)."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from lithify.assembly.recall.legs import PLACE_FIELDS, SourceTurn, leave_out_divided, source_turn
from lithify.memory.ranking.profile import Profile
from lithify.memory.temporal.anchors import SATURATION
from lithify.memory.temporal.query import read_guarded_query
from lithify.memory.vectors.tiers import FULL_TIER
from lithify.store import Hit, Query, Vector, Where

# A(d) has these values only, so the best of each by similarity are the best by A(d), then similarity.
LEVELS: Final = tuple((number - 0.5) / SATURATION for number in range(SATURATION + 1, 0, -1))
# It is a search like the one by meaning, and runs beside it; an answer does not wait longer for it alone.
PATIENCE_S: Final = 0.5
LATE_DATES: Final = "memories with dates did not come in time"


class DatedSearch(NamedTuple):
    """Says which dated memories are wanted: how many, and how near to the question at least."""

    size: int  # k_rec
    floor: float  # θ_rec


def wanted_dates(query: str, profile: Profile) -> DatedSearch | None:
    """Returns what to search for; None unless the question is one about time."""
    if profile.recovery_size == 0 or not read_guarded_query(query, profile).guard.applies:
        return None
    return DatedSearch(profile.recovery_size, profile.recovery_floor)


def dated_queries(where: Where, wanted: DatedSearch, vector: Vector, depth: int, *, places_only: bool) -> list[Query]:
    """Asks once for each density, the highest first, for enough beside all that the two legs may have found."""
    fields = (*PLACE_FIELDS, "anchors") if places_only else None
    limit = wanted.size + 2 * depth
    searched = leave_out_divided(where)
    return [
        Query(
            searched.between("anchors", least, most), FULL_TIER, vector, limit, least_score=wanted.floor, fields=fields
        )
        for most, least in pairwise(LEVELS)
    ]


def pick_dated(
    answers: Sequence[Sequence[Hit]], found: Collection[SourceTurn], wanted: DatedSearch | None
) -> list[Hit]:
    """Returns the best-dated hits of turns that were not found otherwise, one of each turn, the nearest first."""
    picked: dict[SourceTurn, Hit] = {}
    size = wanted.size if wanted else 0
    for hit in (hit for answer in answers for hit in answer):
        if source_turn(hit) not in found and len(picked) < size:
            picked.setdefault(source_turn(hit), hit)
    return list(picked.values())
