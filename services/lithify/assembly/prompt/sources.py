"""Keeps one talkative session from crowding out all others, without leaving room unused."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from lithify.memory.ranking.duplicates import Ranked

RankedT = TypeVar("RankedT", bound=Ranked)

# Of the places on the final list. A question about one conversation still gets half of them from it before any other
# source has its turn, and the rest as far as the others leave them free.
SHARE: Final = 0.5


def spread(ranked: Sequence[RankedT], sources: Mapping[str, str], size: int) -> list[RankedT]:
    """The best `size`, in their order: what a source holds beyond its share comes in only where places stay free."""
    cap = max(1, int(size * SHARE))
    seen: Counter[str] = Counter()
    within: list[int] = []
    beyond: list[int] = []
    for place, item in enumerate(ranked):
        source = sources.get(item.candidate.id, item.candidate.id)
        seen[source] += 1
        (within if seen[source] <= cap else beyond).append(place)
    chosen = within[:size] + beyond[: max(0, size - len(within))]
    return [ranked[place] for place in sorted(chosen)]
