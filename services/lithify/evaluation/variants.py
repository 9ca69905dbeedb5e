"""What an ablation changes: one parameter of the profile, or one way to search, at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from lithify.memory.ranking.passages import ALONE
from lithify.memory.ranking.profile import SEED, Profile

# The values of the public ablations in which they did harm.
MMR_LAMBDA: Final = 0.75
HALF_LIFE_DAYS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Variant:
    """Other parameters on the same memory.

    `fused` merges the two legs by rank instead of mixing their scores, `tiered` searches short prefixes first.
    """

    name: str
    profile: Profile
    fused: bool = False
    tiered: bool = False


def variants(base: Profile) -> Iterator[Variant]:
    """The profile as it is, without each of its signals, and with what is left out of it."""
    yield Variant(f"profile {base.name}", base)
    for signal, weight in zip(base.relevance._fields, base.relevance, strict=True):
        if weight > 0.0:
            yield Variant(f"without {signal}", without(base, signal))
    alone = replace(base, window=ALONE)
    yield Variant("without the turns around a hit", alone)
    yield Variant("without decay when the latest is asked for", replace(base, latest_half_life_days=None))
    yield Variant(f"with MMR, λ = {MMR_LAMBDA}", replace(base, mmr_lambda=MMR_LAMBDA))
    decayed = replace(base, decay_half_life_days=HALF_LIFE_DAYS)
    yield Variant(f"with decay, half-life {HALF_LIFE_DAYS:.0f} days", decayed)
    yield Variant("lexical and dense fused by rank (RRF)", alone, fused=True)
    yield Variant(f"profile {SEED.name}", SEED)
    yield Variant("cascade of prefix tiers instead of whole vectors", base, tiered=True)


def without(base: Profile, signal: str) -> Profile:
    """The other signals keep their proportions."""
    return replace(base, relevance=base.relevance._replace(**{signal: 0.0}).normalise())
