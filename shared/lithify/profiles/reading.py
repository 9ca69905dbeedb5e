"""Reads a profile from the text of a file; whatever cannot be meant is refused with the field and what it may be."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

from lithify.errors import Misconfigured
from lithify.memory.ranking.profile import RECALL, SEED, Profile
from lithify.profiles.slots import PROFILE, UNSET, Slot

BASE: Final = "base"
BASES: Final = {profile.name: profile for profile in (RECALL, SEED)}
# A value is quoted in the complaint about it; nobody needs more to find it.
MAX_SHOWN: Final = 60


def parse_profile(text: str, name: str) -> Profile:
    """Returns the profile of a TOML text: its `base`, changed where the text says so, every field inside its range.

    Raises Misconfigured with one line that names the field and what it may be.
    """
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"profile {name} is not TOML: {error}") from None
    try:
        changed: Profile = fill_table(choose_base(given.pop(BASE, RECALL.name)), PROFILE, given)
        return replace(changed, name=name).normalise()
    except Misconfigured as error:
        raise Misconfigured(f"profile {name}: {error}") from None


def choose_base(base: object) -> Profile:
    if not isinstance(base, str) or base not in BASES:
        raise Misconfigured(f"{BASE} = {shorten(base)}: must be {' or '.join(map(quote, BASES))}")
    return BASES[base]


def fill_table(table: Any, slot: Slot, given: Mapping[str, Any], path: tuple[str, ...] = ()) -> Any:
    """Returns the table with the given values in the place of its own."""
    slots = slot.fields()
    for name in given:
        if name not in slots:
            raise Misconfigured(f"{'.'.join((*path, name))} is no field of a profile{suggest(name, slots)}")
    values = {
        name: read_value(getattr(table, name), slots[name], value, (*path, name)) for name, value in given.items()
    }
    filled = (
        replace(table, **values) if is_dataclass(table) and not isinstance(table, type) else table._replace(**values)
    )
    refuse_empty_weights(filled, path)
    return filled


def read_value(current: Any, slot: Slot, value: Any, path: tuple[str, ...]) -> Any:
    if slot.is_table and isinstance(value, Mapping):
        return fill_table(slot.kind() if current is None else current, slot, value, path)
    if slot.is_list and isinstance(value, list):
        return tuple(read_value(None, slot.item, item, path) for item in value)
    if slot.is_table or slot.is_list or not slot.admits(value):
        raise Misconfigured(f"{'.'.join(path)} = {shorten(value)}: must be {slot.describe()}")
    if value == UNSET:
        return None
    return float(value) if slot.kind is float else value


def refuse_empty_weights(table: Any, path: tuple[str, ...]) -> None:
    """Refuses shares of which none is left: they would silently become the sources' own."""
    if path and isinstance(table, tuple) and hasattr(table, "normalise") and not any(table):
        raise Misconfigured(f"{'.'.join(path)}: at least one weight must be above 0")


def suggest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def shorten(value: object) -> str:
    shown = quote(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
    return shown if len(shown) <= MAX_SHOWN else f"{shown[:MAX_SHOWN]}…"


def quote(value: object) -> str:
    return f'"{value}"'
