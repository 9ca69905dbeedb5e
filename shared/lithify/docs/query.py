"""One question to the documents with everything that may be chosen about its answer, and the receipt of that answer.

The receipt (spec 10 §10) says why a search answered as it did, and holds enough to ask again.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, Self, get_args

from pydantic import TypeAdapter, ValidationError

from lithify.docs.sources import DocKind, checked_kind, checked_repo
from lithify.docs.space import CorpusState
from lithify.docs.terms import NO_TERMS, QuestionTerms
from lithify.errors import Invalid
from lithify.memory.ranking.duplicates import RELEVANCE_SHARE
from lithify.memory.ranking.fusion import DEFAULT_WEIGHTS
from lithify.memory.ranking.recency import HALF_LIFE_DAYS

SearchMode = Literal["fused", "lexical", "dense"]
DocFusion = Literal["adaptive", "rrf", "weighted"]

MODES: Final[tuple[SearchMode, ...]] = get_args(SearchMode)
FUSIONS: Final[tuple[DocFusion, ...]] = get_args(DocFusion)
DEFAULT_FUSION: Final = "adaptive"
MAX_TEXT: Final = 32_768
MAX_LIMIT: Final = 100
MAX_MULTIPLIER: Final = 16
TRACE_KIND: Final = "docs"


@dataclass(frozen=True, slots=True)
class DocQuery:
    """No `repos` and no `kinds` mean all. Raises Invalid for a value out of its range.

    `fusion` is by what the question is made of (`adaptive`), by ranks (`rrf`), or by fixed weights (`weighted`).
    `decay` halves the score of dated documents every `half_life_days`; `mmr` trades relevance (share `lambda_`) against
    repetition and ends below `threshold`; `weights` are those of meaning and words in the weighted fusion.
    """

    text: str
    repos: tuple[str, ...] = ()
    kinds: tuple[DocKind, ...] = ()
    limit: int = 6
    mode: SearchMode = "fused"
    fusion: DocFusion = DEFAULT_FUSION
    weights: tuple[float, float] = DEFAULT_WEIGHTS
    multiplier: int = 4
    decay: bool = False
    half_life_days: float = HALF_LIFE_DAYS
    mmr: bool = False
    lambda_: float = RELEVANCE_SHARE
    threshold: float | None = None

    def __post_init__(self) -> None:
        for repo in self.repos:
            checked_repo(repo)
        for kind in self.kinds:
            checked_kind(kind)
        _require(len(self.text) <= MAX_TEXT, "text", f"{self.text[:40]}…", f"{MAX_TEXT} characters at most")
        _require(self.mode in MODES, "mode", self.mode, f"one of {', '.join(MODES)}")
        _require(self.fusion in FUSIONS, "fusion", self.fusion, f"one of {', '.join(FUSIONS)}")
        _require(1 <= self.limit <= MAX_LIMIT, "limit", self.limit, f"1 to {MAX_LIMIT}")
        _require(1 <= self.multiplier <= MAX_MULTIPLIER, "multiplier", self.multiplier, f"1 to {MAX_MULTIPLIER}")
        _require(0 < self.half_life_days < math.inf, "half_life_days", self.half_life_days, "a positive number of days")
        _require(0 <= self.lambda_ <= 1, "lambda_", self.lambda_, "0 to 1")
        _require(len(self.weights) == len(DEFAULT_WEIGHTS), "weights", self.weights, "two numbers, meaning and words")

    @property
    def depth(self) -> int:
        """Returns how many candidates each list is asked for."""
        return self.limit * self.multiplier


def _require(holds: bool, field: str, value: object, wanted: str) -> None:
    if not holds:
        raise Invalid(f"{field} {value!r} is not allowed; give {wanted}")


@dataclass(frozen=True, slots=True)
class LegHit:
    """Holds one place of a list; `score` is the engine's."""

    ref: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Leg:
    """Holds what one list answered; `absent` says why there is none."""

    hits: tuple[LegHit, ...] = ()
    absent: str | None = None


@dataclass(frozen=True, slots=True)
class LegWeights:
    """Says what each list counts with in the adaptive fusion; meaning begins to count at the cosine `level`."""

    words: float
    meaning: float
    level: float


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """One fused candidate: `score` is `fused` times `decay`; `lexical` and `vector` are what the lists gave to it."""

    ref: str
    score: float
    fused: float
    lexical: float
    vector: float
    lexical_rank: int | None
    vector_rank: int | None
    decay: float


@dataclass(frozen=True, slots=True)
class PickedChunk:
    """One result; `diversity` is the value it was picked with, None if variety was not asked for."""

    ref: str
    score: float
    diversity: float | None
    text: str  # bounded by the cap of a chunk


@dataclass(frozen=True, slots=True)
class DocTrace:
    """Explains one answer. `timings` are in ms and the only part that differs when the same is asked again.

    `terms` are what the question is made of, `weights` what followed from it; None where another fusion was chosen.
    """

    query: DocQuery
    now_ms: int
    corpus: CorpusState
    model: str
    lexical: Leg
    vector: Leg
    fused: tuple[ScoredChunk, ...]
    final: tuple[PickedChunk, ...]
    timings: Mapping[str, float]
    terms: QuestionTerms = NO_TERMS
    weights: LegWeights | None = None

    def as_json(self) -> dict[str, Any]:
        return {"kind": TRACE_KIND, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Reads what `as_json` wrote. Raises Invalid for what is not such a receipt."""
        if data.get("kind") != TRACE_KIND:
            raise Invalid(f"the receipt is not of a docs search but of {data.get('kind')!r}")
        try:
            return TypeAdapter(cls).validate_python({name: data[name] for name in data if name != "kind"})
        except ValidationError as error:
            raise Invalid(f"the receipt of a docs search is damaged: {error.errors()[0]['loc']}") from error
