"""The result of the second pass: every candidate with every component, best first."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Self, overload

from lithify.memory.columns import FloatArray
from lithify.memory.ranking.candidate import Candidate, names_of
from lithify.memory.ranking.ordering import Positions, rank_order


class Scored(NamedTuple):
    """One candidate's row of a receipt."""

    candidate: Candidate
    relevance: float
    recency: float  # r
    frequency: float  # f
    authority: float  # a
    weight: float  # ω
    coverage: float  # M
    quality: float  # Q
    score: float  # S_final


@dataclass(frozen=True, slots=True)
class Components:
    """The numbers of `Scored` as one column each."""

    relevance: FloatArray
    recency: FloatArray
    frequency: FloatArray
    authority: FloatArray
    weight: FloatArray
    coverage: FloatArray
    quality: FloatArray
    score: FloatArray

    def reordered(self, order: Positions) -> Self:
        return type(self)(*(getattr(self, field.name)[order] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Ranking(Sequence[Scored]):
    """A list of `Scored` that keeps its numbers in columns: rows are built for those who are looked at.

    A thousand rows would cost more than their scores; a receipt can be written from `table()`.
    """

    candidates: Sequence[Candidate]
    components: Components

    @classmethod
    def of(cls, candidates: Sequence[Candidate], components: Components) -> Self:
        """Sorted by score, then relevance, collection and id."""
        order = rank_order(components.score, components.relevance, names_of(candidates))
        return cls([candidates[i] for i in order.tolist()], components.reordered(order))

    def table(self) -> dict[str, list[float]]:
        """The columns by name, in rank order."""
        return {field.name: getattr(self.components, field.name).tolist() for field in fields(self.components)}

    def __len__(self) -> int:
        return len(self.candidates)

    @overload
    def __getitem__(self, index: int) -> Scored: ...

    @overload
    def __getitem__(self, index: slice) -> list[Scored]: ...

    def __getitem__(self, index: int | slice) -> Scored | list[Scored]:
        if isinstance(index, slice):
            rows = zip(self.candidates[index], *(column[index].tolist() for column in self._columns), strict=True)
            return [Scored(*row) for row in rows]
        return Scored(self.candidates[index], *(float(column[index]) for column in self._columns))

    @property
    def _columns(self) -> tuple[FloatArray, ...]:
        c = self.components
        return c.relevance, c.recency, c.frequency, c.authority, c.weight, c.coverage, c.quality, c.score
