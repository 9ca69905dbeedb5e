"""The receipt of one docs search (spec 10 §10): why it answered as it did, and enough to ask again."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from pydantic import TypeAdapter, ValidationError

from lithify.docs.query import DocQuery
from lithify.docs.space import CorpusState
from lithify.errors import Invalid

KIND: Final = "docs"


@dataclass(frozen=True, slots=True)
class LegHit:
    """One place of a list; `score` is the engine's."""

    ref: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Leg:
    """Holds what one list answered; `absent` says why there is none."""

    hits: tuple[LegHit, ...] = ()
    absent: str | None = None


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
    """Explains one answer. `timings` are in ms and the only part that differs when the same is asked again."""

    query: DocQuery
    now_ms: int
    corpus: CorpusState
    model: str
    lexical: Leg
    vector: Leg
    fused: tuple[ScoredChunk, ...]
    final: tuple[PickedChunk, ...]
    timings: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        return {"kind": KIND, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Reads what `as_json` wrote. Raises Invalid for what is not such a receipt."""
        if data.get("kind") != KIND:
            raise Invalid(f"the receipt is not of a docs search but of {data.get('kind')!r}")
        try:
            return TypeAdapter(cls).validate_python({name: data[name] for name in data if name != "kind"})
        except ValidationError as error:
            raise Invalid(f"the receipt of a docs search is damaged: {error.errors()[0]['loc']}") from error
