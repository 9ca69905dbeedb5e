"""Which records are meant: conditions that must all hold, independent of the engine that checks them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from lithify.errors import Invalid

Scalar: TypeAlias = str | int | bool


@dataclass(frozen=True, slots=True)
class Equals:
    field: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class AnyOf:
    field: str
    values: tuple[str, ...] | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """Bounds are inclusive; None leaves a side open."""

    field: str
    lowest: float | None
    highest: float | None


@dataclass(frozen=True, slots=True)
class HasId:
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """The field is absent, null or an empty list."""

    field: str


Condition: TypeAlias = Equals | AnyOf | Between | HasId | Missing


@dataclass(frozen=True, slots=True)
class Where:
    """Immutable; every method returns a narrower one, `&` joins two. Empty means every record of the scope.

    A list field equals a value when one of its elements does.
    """

    must: tuple[Condition, ...] = ()
    must_not: tuple[Condition, ...] = ()

    def __and__(self, other: "Where") -> "Where":
        return Where(self.must + other.must, self.must_not + other.must_not)

    def equals(self, field: str, value: Scalar) -> "Where":
        return self._and(Equals(field, value))

    def differs(self, field: str, value: Scalar) -> "Where":
        """Excludes a value; records that lack the field stay."""
        return self._and_not(Equals(field, value))

    def any_of(self, field: str, values: Iterable[str] | Iterable[int]) -> "Where":
        """No values match no record."""
        return self._and(any_of(field, values))

    def none_of(self, field: str, values: Iterable[str] | Iterable[int]) -> "Where":
        """Excludes values; records that lack the field stay, and no values exclude no record."""
        condition = any_of(field, values)
        return self._and_not(condition) if condition.values else self

    def between(self, field: str, lowest: float | None = None, highest: float | None = None) -> "Where":
        if lowest is None and highest is None:
            raise Invalid(f"a range of {field} needs at least one bound")
        return self._and(Between(field, lowest, highest))

    def up_to(self, field: str, highest: int) -> "Where":
        """Excludes whole numbers above that one; unlike with `between`, records that lack the field stay."""
        return self._and_not(Between(field, highest + 1, None))

    def ids(self, ids: Iterable[str]) -> "Where":
        """No ids match no record."""
        return self._and(HasId(tuple(ids)))

    def without_ids(self, ids: Iterable[str]) -> "Where":
        return self._and_not(HasId(tuple(ids)))

    def missing(self, field: str) -> "Where":
        return self._and(Missing(field))

    def present(self, field: str) -> "Where":
        return self._and_not(Missing(field))

    def _and(self, condition: Condition) -> "Where":
        return replace(self, must=(*self.must, condition))

    def _and_not(self, condition: Condition) -> "Where":
        return replace(self, must_not=(*self.must_not, condition))


EVERY_RECORD: Final = Where()
NO_RECORD: Final = Where().ids(())


def any_of(field: str, values: Iterable[str] | Iterable[int]) -> AnyOf:
    listed = tuple(values)
    texts = tuple(value for value in listed if isinstance(value, str))
    # bool is an int to Python but not to the engines.
    numbers = tuple(value for value in listed if isinstance(value, int) and not isinstance(value, bool))
    if listed not in (texts, numbers):
        raise Invalid(f"any_of {field} takes only texts or only whole numbers, not {listed!r}")
    return AnyOf(field, numbers or texts)
