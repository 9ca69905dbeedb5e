"""All parameters of one retrieval profile: `seed` keeps the sources' constants, `recall` is what measures best."""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Literal, NamedTuple, Self

from lithify.errors import Misconfigured
from lithify.memory.bounds import (
    Cosine,
    Count,
    NotNegative,
    Positive,
    Share,
    Size,
    Within,
    clamp,
    clamp01,
    convex,
    is_number,
    number_or,
)
from lithify.memory.compaction.limits import RECALL_COMPACTION, SEED_COMPACTION, CompactionLimits
from lithify.memory.gating.gate_profile import RECALL_GATE, SEED_GATE, GateProfile
from lithify.memory.ranking.authority import AUTHORITY_WEIGHTS, QUALITY_WEIGHT, AuthorityWeights
from lithify.memory.ranking.candidate import (
    FOUR_SCOPE_RATES,
    FOUR_SCOPE_WEIGHTS,
    SCOPE_RATES,
    SCOPE_WEIGHTS,
    PerScope,
)
from lithify.memory.ranking.passages import ALONE, AROUND, Window
from lithify.memory.ranking.relevance import (
    CHAT_WEIGHTS,
    COSINE_ONLY,
    DIALOGUE_WEIGHTS,
    PEOPLE_WEIGHTS,
    RelevanceWeights,
    WeightsByKind,
)

SMALLEST_HOP = 1e-6  # keeps the attenuation inside the open interval (0, 1)
MIN_COARSE = 8
# However large the budget: a question that needs more than this many turns is not a question.
MOST_HITS = 128
RESERVE_TOLERANCE = 1e-9  # 0.4 + 0.3 + 0.3 is not exactly 1 in binary

AtLeastOne = Annotated[float, Within(1.0)]
Attenuation = Annotated[float, Within(SMALLEST_HOP, 1.0 - SMALLEST_HOP)]
# When the selector of spec 09 takes over: by ξ alone, if events can be told apart, or if a time is asked for as well.
TemporalGuard = Literal["indicator", "events", "question"]


class HybridWeights(NamedTuple):
    """They are the shares of the single pass (spec 02 §1)."""

    similarity: Share = 0.7  # α
    recency: Share = 0.2  # β
    scope: Share = 0.1  # γ

    def normalise(self) -> Self:
        return type(self)(*convex(self, type(self)()))


HYBRID_WEIGHTS = HybridWeights()


class RenewalWeights(NamedTuple):
    """What counts as a sign that a newer hit states an older one anew, and from which sum on it goes first.

    Chosen on pairs of statements, and so that questions about long conversations lose nothing (docs/gating.md).
    """

    meaning: Share = 0.25  # their cosine
    words: Share = 0.55  # the share of their words that is common, of the shorter one
    change: Share = 0.2  # the newer tells of a change
    lost: Share = 0.06  # taken off for each word of the question, from the second on, that only the older has
    least: Share = 0.2  # sum that is enough for two that stand nearly alone
    mutual: Share = 0.3  # and among many, if the two are nearer to each other than to any other
    margin: Share = 0.02  # by so much
    certain: Share = 0.5  # and among many, if the asker speaks of themselves
    alike: Share = 0.14  # sum from which hits are counted as speaking of the same; enough if the latest is asked for
    crowd: Count = 4  # so many others may speak of the same
    comparable: Share = 0.3  # of the older one's chance to help, what the newer needs
    depth: Count = 10  # hits that may change places; 0: none
    breadth: Count = 20  # hits that are looked at


NO_RENEWAL = RenewalWeights(depth=0)


class TemporalWeights(NamedTuple):
    score: Share = 0.6  # μ
    anchors: Share = 0.2  # ν
    coverage: Share = 0.2  # ρ

    def normalise(self) -> Self:
        return type(self)(*convex(self, type(self)()))


TEMPORAL_WEIGHTS = TemporalWeights()


class IndicatorWeights(NamedTuple):
    """How much each label of a question about time adds to ξ, and the sum at which it is 1 (spec 09 §1)."""

    how_many_days: Share = 1.0
    how_long: Share = 0.9
    before_or_after: Share = 0.8
    first_or_earlier: Share = 0.8
    since_or_between: Share = 0.7
    when_did: Share = 0.7
    saturation: Positive = 1.5


INDICATOR_WEIGHTS = IndicatorWeights()


@dataclass(frozen=True, slots=True)
class Profile:
    """Field defaults are the sources' constants. Use `normalise()` on anything that was configured."""

    name: str
    # what is searched
    history: Literal["session", "user"] = "session"  # whether the user's other sessions are candidates
    search_tiers: Literal["full", "cascade"] = "cascade"  # whole vectors at once, or calibrated prefixes first
    cascade_deadline_ms: Positive = 50.0  # after which a cascade asks the full tier only
    top_k: Size = 8
    k1: Size | None = None  # coarse candidates; unset means max(2 · top_k, 8)
    k2: Size | None = None  # survivors of the second pass; unset means top_k
    leg_hits: Size | None = None  # hits each search leg gives an assembly; unset means as many as coarse candidates
    tokens_per_hit: AtLeastOne | None = None  # more of them where the budget has more room than this for each
    passage_share: Share = 1.0  # of them, the best that are judged with the turns around them
    similarity_floor: Cosine = 0.20  # θ1
    relevance_floor: Share | None = None  # least chance to help that assembly admits; unset: scores are not calibrated
    doubt_places: Count = 0  # memories below that floor for whoever asks about himself, if no better are known
    doubt_floor: Share = 0.0  # least chance to help that these need
    source_share: Share | None = None  # of the final places, those for one source while others want them; unset: all
    raw_history: bool = False  # whether turns stay searchable after their compaction, beside their summaries
    # how it is scored
    relevance: RelevanceWeights = COSINE_ONLY  # of talks of named people
    chat_relevance: RelevanceWeights = COSINE_ONLY  # of talks with an assistant in short turns
    dialogue_relevance: RelevanceWeights = COSINE_ONLY  # of the same in long turns; most are between the three
    dense_by_maximum: bool = False  # spread the cosines of a list over [0, 1] before mixing
    window: Window = ALONE  # the turns with which a turn is judged
    hybrid: HybridWeights = HYBRID_WEIGHTS
    scope_weights: Annotated[PerScope, Within(0.0, 1.0)] = SCOPE_WEIGHTS
    scope_rates: Annotated[PerScope, Within(0.0)] = SCOPE_RATES  # λ_s per second
    delta: Share = QUALITY_WEIGHT
    durable_authority: Share = 0.0  # a(d) of what the gate or a host made durable; above 0 it stands for its turn
    outdated_weight: Share = 1.0  # of what a later statement of the same user replaced
    apply_quality: bool = True  # off only to compare with the sources' formula without Q (X45)
    kappa: NotNegative = 0.3
    authority: AuthorityWeights = AUTHORITY_WEIGHTS
    authority_rate: NotNegative = 1e-5  # λ_r per second
    hop_attenuation: Attenuation = 0.5  # η_hop
    hop_floor: Share = 0.15  # θ_hop
    mmr_lambda: Share | None = None  # unset: no diversity step
    decay_half_life_days: Positive | None = None  # unset: no time decay
    renewal: RenewalWeights = NO_RENEWAL  # which newer hit goes before an older one, unmarked
    # how the budget is divided
    budget_fraction: Share = 0.25  # τ as a share of the host's token budget
    hard_fraction: Share | None = None  # α1; unset: no reserve check
    soft_fraction: Share = 0.3  # α2
    tail_fraction: Share | None = None  # β; unset: `tail_tokens` is the target (X37)
    tail_tokens: Count = 128
    tail_turns: Size = 4  # m
    guidance_fraction: Share = 0.15
    tail_share: Share = 1.0  # of the budget, what the mandatory tail may take where others want their part
    # how it is packed and shown
    packing: Literal["prefix", "excerpts"] = "prefix"  # what becomes of a memory that does not fit
    item_share: Share = 0.25  # of the room of recall, what one memory may take before it becomes an excerpt
    whole_tokens: Size = 96  # a memory of at most so many is never cut for the sake of that share
    excerpt_tokens: Size = 32  # below this, mark included, an excerpt says too little
    tool_tokens: Size = 32  # of a tool's result in the tail
    passage_gap: Size = 2  # positions between neighbours that are shown together, at most
    # what becomes durable memory, and what becomes a summary
    gate: GateProfile = SEED_GATE
    compaction: CompactionLimits = SEED_COMPACTION
    # the temporal selector of spec 09
    temporal: TemporalWeights = TEMPORAL_WEIGHTS
    indicator: IndicatorWeights = INDICATOR_WEIGHTS
    temporal_threshold: Share = 0.3  # θ_ξ
    temporal_guard: TemporalGuard = "indicator"
    max_slots: Size = 4  # of E(q)
    slot_threshold: Share = 0.5  # θ_e
    recovery_floor: Share = 0.15  # θ_rec
    recovery_size: Count = 10  # k_rec
    coverage_size: Size = 3  # k_cov
    coverage_floor: Share = 0.10  # θ_stop
    dated_coverage: bool = False  # whether only what says when speaks of an event (spec 09 §3)
    temporal_fill: bool = False  # fill what the temporal picks leave of the budget (X48)

    @property
    def weights(self) -> WeightsByKind:
        return WeightsByKind(self.relevance, self.chat_relevance, self.dialogue_relevance)

    @property
    def coarse_size(self) -> int:
        return max(2 * self.top_k, MIN_COARSE) if self.k1 is None else self.k1

    @property
    def final_size(self) -> int:
        return min(self.top_k if self.k2 is None else self.k2, self.coarse_size)

    def leg_depth(self, room: float) -> int:
        """Returns how many hits each search leg gives an assembly of `room` tokens."""
        least = self.coarse_size if self.leg_hits is None else self.leg_hits
        fitting = 0 if self.tokens_per_hit is None else int(min(room / self.tokens_per_hit, MOST_HITS))
        return max(least, fitting)

    def normalise(self) -> "Profile":
        """Brings every parameter into its domain: weights convex, numbers clamped, non-numbers defaulted.

        Raises Misconfigured where clamping would hide a mistake: a budget share outside [0, 1], reserves that
        together exceed the budget, or a half-life that is not positive.
        """
        return _clean_temporal(_clean_budget(_clean_score(_clean_search(self))))

    def digest(self) -> str:
        """Names the parameters in receipts and tables; the profile's name is not one of them."""
        parameters = {key: value for key, value in asdict(self).items() if key != "name"}
        return hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()


SEED = Profile(name="seed")

RECALL = Profile(
    name="recall",
    history="user",
    # On embedded and served engines alike, prefixes first are slower and find less (docs/store.md).
    search_tiers="full",
    scope_weights=FOUR_SCOPE_WEIGHTS,
    scope_rates=FOUR_SCOPE_RATES,
    # A question about one conversation still gets half of the places from it before any other source has its turn.
    source_share=0.5,
    # Deep enough that the packed context, not the candidate list, ends the recall of a large budget.
    top_k=32,
    k1=256,
    k2=64,
    # Some 40 turns fit into 2,000 tokens. Legs of 24 hits with a quarter of them looked at around found .03 less of
    # the evidence for them than search did, and saved next to no time.
    leg_hits=48,
    tokens_per_hit=40.0,
    passage_share=0.5,
    # The mix of signals is relative to the list's best: what is weak is told by the chance to help instead.
    similarity_floor=0.0,
    relevance_floor=0.1,
    # "Where do I live?" shares neither a word nor much meaning with "I moved to Lisbon". Nobody is served by silence
    # about himself, and a few lines cost little.
    doubt_places=5,
    doubt_floor=0.04,
    raw_history=True,
    relevance=PEOPLE_WEIGHTS,
    chat_relevance=CHAT_WEIGHTS,
    dialogue_relevance=DIALOGUE_WEIGHTS,
    dense_by_maximum=True,
    window=AROUND,
    # Fused recency is the most harmful signal in public ablations (round recall .65 falls to .15-.41), and even a
    # half-life of 30 days divides half a year's memories by 64. So age decides nothing here, neither in search
    # (recency 0) nor in assembly (rate 0), and frequent use counts little, lest recalled memories recall themselves.
    hybrid=HybridWeights(similarity=0.9, recency=0.0, scope=0.1),
    # Little: it lets a durable memory pass its equals, never what answers better.
    durable_authority=0.1,
    outdated_weight=0.8,
    authority=AuthorityWeights(recency=0.8, frequency=0.05, authored=0.15),
    authority_rate=0.0,
    # The lexical signal already weighs words by rarity and stem; literal coverage would count "the" again.
    kappa=0.0,
    renewal=RenewalWeights(),
    # Hosts that ask for a budget mean the memory part, not their whole window.
    budget_fraction=1.0,
    # A word like "after" does not make a question one about time; and what three picks leave free is not left empty.
    temporal_guard="question",
    gate=RECALL_GATE,
    compaction=RECALL_COMPACTION,
    temporal_fill=True,
    # A turn that names both events and no date would take the credit of the two that do.
    dated_coverage=True,
    # One long paste must neither silence recall nor take the place of the conversation.
    packing="excerpts",
    tail_share=0.5,
    hard_fraction=0.4,  # the recommended reserve (spec 08 §1)
)


def _clean_search(profile: Profile) -> Profile:
    return replace(
        profile,
        top_k=_count(profile.top_k, SEED.top_k),
        k1=None if profile.k1 is None else _count(profile.k1, SEED.coarse_size),
        k2=None if profile.k2 is None else _count(profile.k2, SEED.final_size),
        leg_hits=None if profile.leg_hits is None else _count(profile.leg_hits, SEED.coarse_size),
        tokens_per_hit=None if profile.tokens_per_hit is None else max(number_or(profile.tokens_per_hit, 1.0), 1.0),
        passage_share=_share(profile.passage_share, SEED.passage_share),
        similarity_floor=clamp(number_or(profile.similarity_floor, SEED.similarity_floor), -1.0, 1.0),
        doubt_places=_count(profile.doubt_places, SEED.doubt_places, 0),
        doubt_floor=_share(profile.doubt_floor, SEED.doubt_floor),
        relevance_floor=None if profile.relevance_floor is None else _share(profile.relevance_floor, 0.0),
        decay_half_life_days=_half_life("decay_half_life_days", profile.decay_half_life_days),
        mmr_lambda=None if profile.mmr_lambda is None else _share(profile.mmr_lambda, 1.0),
    )


def _clean_score(profile: Profile) -> Profile:
    attenuation = number_or(profile.hop_attenuation, SEED.hop_attenuation)
    return replace(
        profile,
        relevance=profile.relevance.normalise(),
        chat_relevance=profile.chat_relevance.normalise(),
        dialogue_relevance=profile.dialogue_relevance.normalise(),
        window=Window(*(tuple(_share(share, 0.0) for share in side) for side in profile.window)),
        hybrid=profile.hybrid.normalise(),
        authority=profile.authority.normalise(),
        scope_weights=PerScope(*map(_share, profile.scope_weights, SEED.scope_weights)),
        scope_rates=PerScope(*map(_positive, profile.scope_rates, SEED.scope_rates)),
        delta=_share(profile.delta, SEED.delta),
        durable_authority=_share(profile.durable_authority, SEED.durable_authority),
        outdated_weight=_share(profile.outdated_weight, SEED.outdated_weight),
        kappa=_positive(profile.kappa, SEED.kappa),
        authority_rate=_positive(profile.authority_rate, SEED.authority_rate),
        hop_attenuation=clamp(attenuation, SMALLEST_HOP, 1.0 - SMALLEST_HOP),
        hop_floor=_share(profile.hop_floor, SEED.hop_floor),
    )


def _clean_budget(profile: Profile) -> Profile:
    reserves = {"hard": profile.hard_fraction, "soft": profile.soft_fraction, "tail": profile.tail_fraction}
    _refuse_bad_reserves({name: share for name, share in reserves.items() if share is not None})
    return replace(
        profile,
        budget_fraction=_share(profile.budget_fraction, SEED.budget_fraction),
        tail_tokens=_count(profile.tail_tokens, SEED.tail_tokens, low=0),
        tail_turns=_count(profile.tail_turns, SEED.tail_turns),
        guidance_fraction=_share(profile.guidance_fraction, SEED.guidance_fraction),
        passage_gap=_count(profile.passage_gap, SEED.passage_gap),
        tail_share=_share(profile.tail_share, SEED.tail_share),
        item_share=_share(profile.item_share, SEED.item_share),
        whole_tokens=_count(profile.whole_tokens, SEED.whole_tokens),
        excerpt_tokens=_count(profile.excerpt_tokens, SEED.excerpt_tokens),
        tool_tokens=_count(profile.tool_tokens, SEED.tool_tokens),
    )


def _clean_temporal(profile: Profile) -> Profile:
    return replace(
        profile,
        gate=profile.gate.normalise(),
        temporal=profile.temporal.normalise(),
        temporal_threshold=_share(profile.temporal_threshold, SEED.temporal_threshold),
        slot_threshold=_share(profile.slot_threshold, SEED.slot_threshold),
        recovery_floor=_share(profile.recovery_floor, SEED.recovery_floor),
        recovery_size=_count(profile.recovery_size, SEED.recovery_size, low=0),
        coverage_size=min(_count(profile.coverage_size, SEED.coverage_size), profile.final_size),
        coverage_floor=_share(profile.coverage_floor, SEED.coverage_floor),
    )


def _share(value: object, default: float) -> float:
    return clamp01(number_or(value, default))


def _positive(value: object, default: float) -> float:
    return max(number_or(value, default), 0.0)


def _count(value: object, default: int, low: int = 1) -> int:
    return max(int(number_or(value, default)), low)


def _half_life(name: str, days: float | None) -> float | None:
    if days is not None and not (is_number(days) and days > 0.0):
        raise Misconfigured(f"{name} must be a positive number of days or unset, got {days}")
    return days


def _refuse_bad_reserves(shares: dict[str, float]) -> None:
    named = ", ".join(f"{name}_fraction={share}" for name, share in shares.items())
    if not all(is_number(share) and 0.0 <= share <= 1.0 for share in shares.values()):
        raise Misconfigured(f"budget reserves must lie in [0, 1]: {named}")
    if sum(shares.values()) > 1.0 + RESERVE_TOLERANCE:
        raise Misconfigured(f"budget reserves may not exceed the whole budget: {named}")
