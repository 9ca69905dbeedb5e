"""docs/profiles.md tells every field in which the two shipped profiles differ."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lithify.memory.ranking.profile import RECALL, SEED
from lithify.profiles.slots import PROFILE, Slot

PAGE = Path(__file__).parents[3] / "docs" / "profiles.md"


def differing(slot: Slot, one: Any, other: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, inner in slot.fields().items():
        left, right = getattr(one, name), getattr(other, name)
        if inner.is_table and left is not None and right is not None:
            yield from differing(inner, left, right, (*path, name))
        elif left != right:
            yield (*path, name)


def test_every_difference_between_the_profiles_has_its_reason() -> None:
    table = PAGE.read_text("utf-8").partition("## What `recall` does differently")[2].partition("\n## ")[0]
    told = {".".join(path) for path in differing(PROFILE, SEED, RECALL)}
    missing = [name for name in told if f"`{name}`" not in table and f"`{name.split('.')[0]}`" not in table]
    assert not missing, f"say in docs/profiles.md why they differ: {missing}"
