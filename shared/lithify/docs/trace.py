"""The receipt of one docs search (spec 10 §10): why it answered as it did, and enough to ask again."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from pydantic import TypeAdapter, ValidationError

from lithify.docs.corpus import Corpus
from lithify.docs.query import DocQuery
from lithify.errors import Invalid

KIND: Final = "docs"


@dataclass(frozen=True, slots=True)
class Listed:
    """One place of a list; `score` is the engine's."""

    ref: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Leg:
    """What one list answered; `absent` says why there is none."""

    hits: tuple[Listed, ...] = ()
    absent: str | None = None


@dataclass(frozen=True, slots=True)
class Scored:
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
class Pick:
    """One result; `diversity` is the value it was picked with, None if variety was not asked for."""

    ref: str
    score: float
    diversity: float | None
    text: str  # bounded by the cap of a chunk


@dataclass(frozen=True, slots=True)
class Trace:
    """Plain data. `timings` are in ms and the only part that differs when the same is asked again."""

    query: DocQuery
    now_ms: int
    corpus: Corpus
    model: str
    lexical: Leg
    vector: Leg
    fused: tuple[Scored, ...]
    final: tuple[Pick, ...]
    timings: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        return {"kind": KIND, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Raises Invalid for what is not such a receipt."""
        if data.get("kind") != KIND:
            raise Invalid(f"the receipt is not of a docs search but of {data.get('kind')!r}")
        try:
            return TypeAdapter(cls).validate_python({name: data[name] for name in data if name != "kind"})
        except ValidationError as error:
            raise Invalid(f"the receipt of a docs search is damaged: {error.errors()[0]['loc']}") from error
