"""Reads from the types of a profile which fields it has and what each of them may be."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from lithify.memory.bounds import Within, is_number
from lithify.memory.ranking.profile import Profile

UNSET: Final = "unset"
"""What stands in a file for None, which TOML does not have."""

ANYTHING: Final = Within()
NAME: Final = "name"
"""The one field of a profile that no file sets: a file's profile is called after the file."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Says what a field may be: a table of other fields, a list, one of several words, a truth or a number."""

    kind: Any
    within: Within = ANYTHING
    is_optional: bool = False

    @property
    def is_table(self) -> bool:
        return is_dataclass(self.kind) or hasattr(self.kind, "_fields")

    @property
    def is_list(self) -> bool:
        return get_origin(self.kind) is tuple

    @property
    def words(self) -> tuple[str, ...]:
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def item(self) -> "Slot":
        """Returns what each item of a list may be."""
        return read_slot(get_args(self.kind)[0], self.within)

    def fields(self) -> Mapping[str, "Slot"]:
        """Returns the fields of a table, in their order; a range on the table is one for each of them."""
        hints = get_type_hints(self.kind, include_extras=True)
        return {name: read_slot(hint, self.within) for name, hint in hints.items() if name != NAME}

    def admits(self, value: object) -> bool:
        """Says whether a value of a file, but no table or list, is one that this field may have."""
        if value == UNSET:
            return self.is_optional
        if self.words:
            return value in self.words
        if self.kind is bool:
            return isinstance(value, bool)
        if not isinstance(value, int if self.kind is int else int | float):
            return False
        return is_number(value) and self.within.holds(value)

    def describe(self) -> str:
        """Says in words what the field may be."""
        return " or ".join([self._describe_value(), *([f'"{UNSET}"'] if self.is_optional else [])])

    def _describe_value(self) -> str:
        if self.is_table:
            return f"a table of {', '.join(self.fields())}"
        if self.is_list:
            return f"a list, each item {self.item.describe()}"
        if self.words:
            return " or ".join(f'"{word}"' for word in self.words)
        if self.kind is bool:
            return "true or false"
        return " ".join(
            filter(None, ["a whole number" if self.kind is int else "a number", describe_range(self.within)])
        )


PROFILE: Final = Slot(Profile)


def read_slot(hint: Any, inherited: Within = ANYTHING) -> Slot:
    """Reads a type; one without a range of its own has the `inherited` one."""
    if get_origin(hint) in (Union, UnionType):
        [only] = [member for member in get_args(hint) if member is not NoneType]
        return replace(read_slot(only, inherited), is_optional=True)
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        return Slot(kind, next((mark for mark in marks if isinstance(mark, Within)), inherited))
    return Slot(hint, inherited)


def describe_range(within: Within) -> str:
    low = f"{within.low:.10g}"
    if within.low == -math.inf:
        return ""
    if within.high == math.inf:
        return f"above {low}" if within.above else f"of {low} or more"
    start = f"above {low}, up to" if within.above else f"from {low} to"
    return f"{start} {within.high:.10g}"
