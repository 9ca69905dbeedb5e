"""The constants of the gate as a retrieval profile holds them (spec 04); the defaults are the sources'."""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self

from lithify.memory.bounds import Cosine, Positive, Share, Size, convex

Evidence = Literal["learned", "gp1", "gp2"]


class ConversationalWeights(NamedTuple):
    novelty: Share = 0.35  # w1c, of H
    repetition: Share = 0.40  # w2c, of R
    structure: Share = 0.25  # w3c, of D

    def normalise(self) -> Self:
        return type(self)(*convex(self, type(self)()))


class TechnicalWeights(NamedTuple):
    specificity: Share = 0.40  # w1t, of P
    actionability: Share = 0.35  # w2t, of A
    structure: Share = 0.25  # w3t, of Dtech

    def normalise(self) -> Self:
        return type(self)(*convex(self, type(self)()))


CONVERSATIONAL = ConversationalWeights()
TECHNICAL = TechnicalWeights()


@dataclass(frozen=True, slots=True)
class GateWeights:
    """The weights of both branches and the score from which a turn is promoted: they belong together."""

    threshold: Share = 0.35
    tech_norm: Positive = 1.5
    conversational: ConversationalWeights = CONVERSATIONAL
    technical: TechnicalWeights = TECHNICAL

    def normalise(self) -> "GateWeights":
        return replace(self, conversational=self.conversational.normalise(), technical=self.technical.normalise())


class NeighbourLimits(NamedTuple):
    """How many neighbours are looked at, and from which similarity on they repeat or hold a turn (spec 04 §2, §3)."""

    turns: Size = 10
    memories: Size = 5
    repeated: Cosine = 0.80  # a turn hit this close says the same thing
    repeats: Size = 5  # such hits for a full frequency
    known: Cosine = 0.85  # a durable neighbour this close already holds the fact
    saturated: Size = 3  # such neighbours for full saturation


NEIGHBOUR_LIMITS = NeighbourLimits()
PATTERN_WEIGHTS = GateWeights()
# With a learned worth in the place of structure and actionability. The worth decides and the neighbours tip the scale:
# without any worth nothing reaches the threshold. Chosen on labelled turns, docs/gating.md.
LEARNED_WEIGHTS = GateWeights(
    threshold=0.55,
    conversational=ConversationalWeights(novelty=0.2, repetition=0.1, structure=0.7),
    technical=TechnicalWeights(specificity=0.2, actionability=0.7, structure=0.1),
)


@dataclass(frozen=True, slots=True)
class GateProfile:
    """`learned` goes with learned evidence, `patterns` with a pattern set; `merge` unset never joins two memories."""

    evidence: Evidence = "gp1"
    merge: Share | None = None  # the similarity from which a promoted turn joins the memory it only says again
    patterns: GateWeights = PATTERN_WEIGHTS
    learned: GateWeights = LEARNED_WEIGHTS
    neighbours: NeighbourLimits = NEIGHBOUR_LIMITS

    def normalise(self) -> "GateProfile":
        return replace(self, patterns=self.patterns.normalise(), learned=self.learned.normalise())


SEED_GATE = GateProfile()
RECALL_GATE = GateProfile(evidence="learned", merge=0.95)
