"""What is stored and what is found: payload, prefix tiers and the lexical vector under one deterministic id."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeAlias
from uuid import UUID, uuid5

import numpy as np
import numpy.typing as npt

from lithify.errors import Invalid

# Drawn once at random. Changing it would orphan every stored record.
NAMESPACE: Final = UUID("6f0f5d0e-6f4b-4a83-9d57-0f1c3c7b2a94")


def point_id(tenant: str, kind: str, natural_key: str, family: str) -> str:
    """Returns the id of a record, by which writing it twice is writing it once.

    It is made of tenant, kind, own key and embedding family, as uuid text.
    """
    return str(uuid5(NAMESPACE, join_parts(tenant, kind, natural_key, family)))


def join_parts(*parts: str) -> str:
    """Returns one text from which the parts could be told again.

    A separator alone would let `a|b, c` equal `a, b|c`.
    """
    return "".join(f"{len(part)}:{part}" for part in parts)


LEXICAL: Final = "lexical"

Vector: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]

# Qdrant numbers the dimensions of sparse vectors with 32 bits.
MAX_SPARSE_INDEX: Final = 2**32 - 1


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Weights of terms; the inverse document frequency is applied by the engine when searching."""

    indices: tuple[int, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.indices) != len(self.values):
            raise Invalid(f"sparse vector has {len(self.indices)} indices but {len(self.values)} values")
        if len(set(self.indices)) != len(self.indices):
            raise Invalid("sparse vector names an index twice")
        if self.indices and not 0 <= min(self.indices) <= max(self.indices) <= MAX_SPARSE_INDEX:
            raise Invalid(f"sparse vector indices must lie in 0 to {MAX_SPARSE_INDEX}")

    @property
    def items(self) -> Iterator[tuple[int, float]]:
        return zip(self.indices, self.values, strict=True)

    @classmethod
    def from_engine(cls, indices: Iterable[int], values: Iterable[float]) -> Self:
        """Takes what an engine returned unchecked.

        It was checked when it was written, and a hundred are read for each answer.
        """
        vector = object.__new__(cls)
        object.__setattr__(vector, "indices", tuple(indices))
        object.__setattr__(vector, "values", tuple(values))
        return vector


# Nobody changes one, but it is not frozen: a hundred are made for each answer, and freezing takes five times as long.
@dataclass(slots=True, unsafe_hash=True)
class Record:
    """One point. Tiers that could not be made are left out; such a record is found by its words only."""

    id: str
    payload: Mapping[str, Any]
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    lexical: SparseVector | None = None


@dataclass(slots=True, unsafe_hash=True)
class Hit:
    """One answer of a search; `vectors` holds the tiers the query asked for, as far as the record has them."""

    id: str
    score: float
    payload: Mapping[str, Any]
    vectors: Mapping[str, Vector] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of a scroll; `next` continues it and is None at the end."""

    records: list[Record]
    next: str | None


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    """Orders hits by score and, where it is equal, by id.

    The engines leave that open, and answers must be repeatable.
    """
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))
