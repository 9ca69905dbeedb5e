"""One question to the documents, with everything that may be chosen about its answer."""

import math
from dataclasses import dataclass
from typing import Final, Literal, get_args

from lithify.docs.sources import DocKind, checked_kind, checked_repo
from lithify.errors import Invalid
from lithify.memory.ranking.decay import HALF_LIFE_DAYS
from lithify.memory.ranking.diversity import RELEVANCE_SHARE
from lithify.memory.ranking.fusion import DEFAULT_WEIGHTS

SearchMode = Literal["fused", "lexical", "dense"]
Fusion = Literal["rrf", "weighted"]

MODES: Final[tuple[SearchMode, ...]] = get_args(SearchMode)
FUSIONS: Final[tuple[Fusion, ...]] = get_args(Fusion)
MAX_TEXT: Final = 32_768
MAX_LIMIT: Final = 100
MAX_MULTIPLIER: Final = 16


@dataclass(frozen=True, slots=True)
class DocQuery:
    """No `repos` and no `kinds` mean all. Raises Invalid for a value out of its range.

    `decay` halves the score of dated documents every `half_life_days`; `mmr` trades relevance (share `lambda_`) against
    repetition and ends below `threshold`; `weights` are those of meaning and words in the weighted fusion.
    """

    text: str
    repos: tuple[str, ...] = ()
    kinds: tuple[DocKind, ...] = ()
    limit: int = 6
    mode: SearchMode = "fused"
    fusion: Fusion = "rrf"
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
