"""How far a search looks, in steps: what a shallow search found is judged alike in a deeper one.

The chance that a record helps is made of what is at hand: which words are rare, which turns stand around it. So every
search, of whatever limit or budget, begins with the same core and grows from there.
"""

import math
from typing import Final, NamedTuple

from lithify.memory.ranking.profile import Profile

# A leg of the search tool is asked for more than is returned: a record may be good in one list and best in both. The
# better half is looked at with its neighbours; looking at all gains .002 of recall.
DEPTH_FACTOR: Final = 4
MIN_DEPTH: Final = 64


class SearchLevel(NamedTuple):
    """Says how far a search looks: hits of each leg, the best of both, and how many of these with their neighbours."""

    depth: int
    shortlist: int
    passages: int | None = None  # None means all


def core_level(profile: Profile) -> SearchLevel:
    """Returns how far an assembly of the smallest budget looks."""
    return _assembly_level(profile, profile.leg_depth(0.0))


def assembly_levels(profile: Profile, room: float) -> tuple[SearchLevel, ...]:
    """Returns the levels for a budget of `room` tokens: each is twice as deep as the one before it."""
    core = core_level(profile)
    doublings = round(math.log2(profile.leg_depth(room) / core.depth))
    return tuple(_assembly_level(profile, core.depth << number) for number in range(doublings + 1))


def search_levels(profile: Profile, limit: int, multiplier: int | None = None) -> tuple[SearchLevel, ...]:
    """Returns the levels for so many hits: the core of every assembly, then steps of doubling depth.

    With a `multiplier` the last of them has exactly so many places for each hit.
    """
    wanted = multiplier and multiplier * limit
    doublings = max(math.ceil(math.log2((wanted or DEPTH_FACTOR * limit) / MIN_DEPTH)), 0)
    depths = [MIN_DEPTH << number for number in range(doublings + 1)]
    steps = [SearchLevel(depth, depth // 2) for depth in depths]
    if wanted:
        steps[-1] = SearchLevel(wanted, max(wanted // 2, limit))
    return core_level(profile), *steps


def _assembly_level(profile: Profile, depth: int) -> SearchLevel:
    return SearchLevel(depth, depth, math.ceil(depth * profile.passage_share))
