"""Names a profile's parameters in receipts and cache keys, worked out once: it costs as much as ranking."""

from functools import cache

from lithify.memory.ranking.profile import Profile


@cache
def digest_of(profile: Profile) -> str:
    """A process knows a handful of profiles."""
    return profile.digest()
