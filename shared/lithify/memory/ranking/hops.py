"""One step along the links of the best memories, attenuated (spec 08 §4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.duplicates import distinct_turns
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.scoring import Scored, rank_key


@dataclass(frozen=True, slots=True)
class Hop:
    """It is a link target that deserves to be fetched; its best parent comes first."""

    target: str
    score: float
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Projected:
    """A memory in its final rank; `parents` is empty for direct results."""

    candidate: Candidate
    sigma: float
    similarity: float
    parents: tuple[str, ...] = ()

    @classmethod
    def of(cls, scored: Scored) -> Self:
        return cls(scored.candidate, scored.score, scored.relevance)


def plan_hops(parents: Sequence[Scored], profile: Profile) -> list[Hop]:
    """Returns targets of `parents` (best first) that reach the hop floor and score higher than by themselves.

    Only direct results are parents, so the depth is one and cycles end by themselves.
    """
    direct = {parent.candidate.id: parent.score for parent in parents}
    sources: dict[str, list[Scored]] = {}
    for parent in parents:
        for target in dict.fromkeys(parent.candidate.hop_targets):
            if target != parent.candidate.id:
                sources.setdefault(target, []).append(parent)
    hops = (_hop(target, links, profile.hop_attenuation) for target, links in sources.items())
    worthy = (hop for hop in hops if hop.score >= profile.hop_floor and hop.score > direct.get(hop.target, 0.0))
    return sorted(worthy, key=lambda h: (-h.score, h.target))


def merge_projection(
    direct: Sequence[Projected], hops: Sequence[Hop], retrievable: Mapping[str, Candidate]
) -> list[Projected]:
    """Merges direct results and those hop targets that exist and may be recalled into one order.

    `retrievable` maps ids to any records of the variant corpus (X44): never rules, never the tail. A memory
    that is in both lists keeps its higher σ.
    """
    similarity = {item.candidate.id: item.similarity for item in direct}
    fetched = [
        Projected(retrievable[hop.target], hop.score, similarity.get(hop.target, 0.0), hop.parents)
        for hop in hops
        if hop.target in retrievable
    ]
    return distinct_turns(sorted([*direct, *fetched], key=_projection_key))


def _hop(target: str, links: Sequence[Scored], attenuation: float) -> Hop:
    best_first = sorted(links, key=lambda s: (-s.score, s.candidate.id))
    return Hop(target, attenuation * best_first[0].score, tuple(s.candidate.id for s in best_first))


def _projection_key(item: Projected) -> tuple[float, float, str]:
    return rank_key(item.sigma, item.similarity, item.candidate.id)
