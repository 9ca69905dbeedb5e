"""The constants of compaction as a retrieval profile holds them (spec 05); the defaults are the sources'."""

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from lithify.memory.bounds import Cosine, Count, Share, Size, Within

Density = Annotated[float, Within(0.0, 1.0, above=True)]


class LadderSteps(NamedTuple):
    """The attempts at a summary, each shorter than the one before (spec 05 §8)."""

    first_tokens: Size = 64
    second_tokens: Size = 32
    last_tokens: Size = 16  # of the extract after two abstractive attempts
    density: Density = 0.4  # the share of turns an extract keeps
    sparse_density: Density = 0.25  # from the second attempt on


LADDER_STEPS = LadderSteps()


@dataclass(frozen=True, slots=True)
class CompactionLimits:
    """`cohesion` unset clusters by order alone, as the sources do."""

    cluster_turns: Annotated[int, Within(2, 1_000)] = 20  # k
    cohesion: Share | None = None  # how much the turns of a cluster must have in common
    abstractive_gating: Share = 0.60  # the mean gating score from which a cluster is written anew
    prior_tokens: Count = 96  # of earlier summaries, for the one who writes
    ladder: LadderSteps = LADDER_STEPS
    preserve_align: Cosine = 0.65  # τ_preserve
    guidance: Literal["authored", "standing"] = "authored"  # the detector of rules, or that of standing instructions
    embed_share: Share = 0.8  # λ of the confidence; the rest is the decoder's own, which measures fluency only


SEED_COMPACTION = CompactionLimits()
# Twenty neighbouring turns of ordinary chat score above it in 97 of 100 cases with MiniLM, and in all with nomic
# (docs/compaction.md); texts that have nothing to do with each other score 0 by definition.
RECALL_COMPACTION = CompactionLimits(cohesion=0.15, guidance="standing")
