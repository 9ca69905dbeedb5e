"""The retrieval profile the settings name, and what other parts have to agree with it on."""

from lithify.memory.prompt.tail import TailPolicy
from lithify.memory.ranking.profile import RECALL, SEED, Profile
from lithify.settings import Settings

PROFILES = {profile.name: profile.normalised() for profile in (RECALL, SEED)}


def retrieval_profile(settings: Settings) -> Profile:
    return PROFILES[settings.retrieval_profile]


def tail_policy(settings: Settings) -> TailPolicy:
    """Compaction leaves alone what assembly shows verbatim, so both take the tail from the same numbers (X38)."""
    profile = retrieval_profile(settings)
    return TailPolicy(profile.tail_turns, profile.tail_tokens)
