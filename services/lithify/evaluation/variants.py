"""What an ablation changes: one parameter of the profile, or one setting of the node, at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from lithify.memory.ranking.passages import ALONE
from lithify.memory.ranking.profile import SEED, Profile

# The values of the public ablations in which they did harm.
MMR_LAMBDA: Final = 0.75
HALF_LIFE_DAYS: Final = 30.0


@dataclass(frozen=True, slots=True)
class ScoringVariant:
    """Other parameters on the same memory; `fused` merges the two legs by rank instead of mixing their scores."""

    name: str
    profile: Profile
    fused: bool = False


@dataclass(frozen=True, slots=True)
class NodeVariant:
    """Other settings of the node; what changes the stored vectors needs a `folder` of its own."""

    name: str
    settings: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None


def scoring_variants(base: Profile) -> Iterator[ScoringVariant]:
    """The profile as it is, without each of its signals, and with what is left out of it."""
    yield ScoringVariant(f"profile {base.name}", base)
    for signal, weight in zip(base.relevance._fields, base.relevance, strict=True):
        if weight > 0.0:
            yield ScoringVariant(f"without {signal}", without(base, signal))
    yield ScoringVariant("without the turns around a hit", replace(base, window=ALONE))
    yield ScoringVariant("without decay when the latest is asked for", replace(base, latest_half_life_days=None))
    yield ScoringVariant(f"with MMR, λ = {MMR_LAMBDA}", replace(base, mmr_lambda=MMR_LAMBDA))
    decayed = replace(base, decay_half_life_days=HALF_LIFE_DAYS)
    yield ScoringVariant(f"with decay, half-life {HALF_LIFE_DAYS:.0f} days", decayed)
    yield ScoringVariant("lexical and dense fused by rank (RRF)", base, fused=True)
    yield ScoringVariant(f"profile {SEED.name}", SEED)


def without(base: Profile, signal: str) -> Profile:
    """The other signals keep their proportions."""
    return replace(base, relevance=base.relevance._replace(**{signal: 0.0}).normalised())


def node_variants() -> tuple[NodeVariant, ...]:
    return (
        NodeVariant("cascade of prefix tiers instead of whole vectors", {"LITHIFY_SEARCH_TIERS": "cascade"}),
        NodeVariant("weights fp32 instead of int8", {"LITHIFY_EMBEDDING_VARIANT": "fp32"}, folder="fp32"),
    )
