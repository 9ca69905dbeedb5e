"""How far a search looks: what a shallow search found is judged alike in a deeper one.

The chance that a record helps is made of what is at hand: which words are rare, what the best passage covers. So every
search, of whatever limit or budget, begins with the same core, and judges by it.
"""

import math
from typing import Final, NamedTuple

from lithify.memory.ranking.profile import Profile

# A leg of the search tool is asked for more than is returned: a record may be good in one list and best in both. The
# better part is looked at with its neighbours; looking at all gains .002 of recall.
DEPTH_FACTOR: Final = 4
MIN_DEPTH: Final = 96
BETTER_PART: Final = 0.6


class Reach(NamedTuple):
    """Says how far a search looks: hits of each leg, the best of both, and how many of these with their neighbours."""

    depth: int
    shortlist: int
    passages: int | None = None  # None means all


def core_reach(profile: Profile) -> Reach:
    """Returns how far every search looks at least: as an assembly of the smallest budget does."""
    return _look_around(profile, profile.leg_depth(0.0))


def assembly_reach(profile: Profile, room: float) -> Reach:
    """Returns how far an assembly with room for so many tokens looks, in whole cores: one look is quicker than two."""
    core = core_reach(profile).depth
    return _look_around(profile, core * round(profile.leg_depth(room) / core))


def search_reach(profile: Profile, limit: int, multiplier: int | None = None) -> Reach:
    """Returns how far a search for so many hits looks; with a `multiplier`, each hit has exactly so many places."""
    if multiplier is not None:
        return Reach(multiplier * limit, max(multiplier * limit // 2, limit))
    depth = max(DEPTH_FACTOR * limit, MIN_DEPTH, core_reach(profile).depth)
    return Reach(depth, math.ceil(BETTER_PART * depth))


def _look_around(profile: Profile, depth: int) -> Reach:
    return Reach(depth, depth, math.ceil(depth * profile.passage_share))
