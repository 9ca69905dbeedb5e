"""What the ablation changes, one thing at a time: a row of a table each, so that a new row is a new line here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lithify.memory.ranking.passages import ALONE
from lithify.memory.ranking.profile import NO_RENEWAL, SEED, Profile
from lithify.memory.ranking.relevance import RelevanceWeights

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


@dataclass(frozen=True, slots=True)
class ProfileChange:
    """A named change of the profile that needs no other memory."""

    name: str
    apply: Callable[[Profile], Profile]
    fused: bool = False
    tiered: bool = False

    def make_variant(self, base: Profile) -> Variant:
        return Variant(self.name, self.apply(base), self.fused, self.tiered)


def keep(base: Profile) -> Profile:
    return base


def drop_neighbours(base: Profile) -> Profile:
    return replace(base, window=ALONE)


def weigh_alike(base: Profile, weights: RelevanceWeights) -> Profile:
    return replace(base, relevance=weights, chat_relevance=weights, dialogue_relevance=weights)


PROFILE_CHANGES: Final = (
    ProfileChange("without the turns around a hit", drop_neighbours),
    ProfileChange("weights of named people for all", lambda base: weigh_alike(base, base.relevance)),
    ProfileChange("weights of chats for all", lambda base: weigh_alike(base, base.chat_relevance)),
    ProfileChange("weights of dialogues for all", lambda base: weigh_alike(base, base.dialogue_relevance)),
    ProfileChange("without the newer hit first", lambda base: replace(base, renewal=NO_RENEWAL)),
    ProfileChange(f"with MMR, λ = {MMR_LAMBDA}", lambda base: replace(base, mmr_lambda=MMR_LAMBDA)),
    ProfileChange(
        f"with decay, half-life {HALF_LIFE_DAYS:.0f} days",
        lambda base: replace(base, decay_half_life_days=HALF_LIFE_DAYS),
    ),
    ProfileChange("lexical and dense fused by rank (RRF)", drop_neighbours, fused=True),
    ProfileChange(f"profile {SEED.name}", lambda _: SEED),
    ProfileChange("cascade of prefix tiers instead of whole vectors", keep, tiered=True),
)


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A named change of the settings that needs a memory of its own, ingested once more.

    `run_node` has to hand the setting to the node. `folder` sets its memory apart where the name of the model and the
    precision do not.
    """

    name: str
    settings: Mapping[str, Any] = field(hash=False)
    folder: str = ""


FULL_PRECISION: Final = MemoryChange("weights fp32 instead of int8", {"embedding_variant": "fp32"})


def make_variants(base: Profile) -> Iterator[Variant]:
    """Yields the profile as it is, without each of its signals, and with each change that makes it another."""
    yield Variant(f"profile {base.name}", base)
    for signal, *weights in zip(RelevanceWeights._fields, *base.weights, strict=True):
        if max(weights) > 0.0:
            yield Variant(f"without {signal}", drop_signal(base, signal))
    for change in PROFILE_CHANGES:
        variant = change.make_variant(base)
        if variant.fused or variant.tiered or variant.profile != base:
            yield variant


def drop_signal(base: Profile, signal: str) -> Profile:
    """Leaves one signal out for every kind of talk; the others keep their proportions."""
    people, chat, dialogue = (weights._replace(**{signal: 0.0}).normalise() for weights in base.weights)
    return replace(base, relevance=people, chat_relevance=chat, dialogue_relevance=dialogue)
