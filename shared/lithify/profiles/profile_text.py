"""Writes a profile as a TOML file that can be saved, changed and read again."""

from collections.abc import Iterator
from typing import Any, Final

from lithify.memory.ranking.profile import RECALL, Profile
from lithify.profiles.reading import BASE, BASES
from lithify.profiles.slots import PROFILE, UNSET, Slot

HEAD: Final = """# Profile {name}, digest {digest}.
# Keep of this what you change; the rest is then taken from the base, also when a release improves it.
"""


def render_profile(profile: Profile) -> str:
    """Returns every field of a profile with what it may be; read again, it has the same digest."""
    base = profile.name if profile.name in BASES else RECALL.name
    head = HEAD.format(name=profile.name, digest=profile.digest())
    return f'{head}{BASE} = "{base}"\n' + "\n".join(_table_lines(profile, PROFILE)) + "\n"


def _table_lines(table: Any, slot: Slot, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yields the values of a table, then the tables in it: TOML reads what follows a head as part of it."""
    fields = slot.fields()
    plain = {name: one for name, one in fields.items() if not one.is_table or getattr(table, name) is None}
    if path and plain:
        yield f"\n[{'.'.join(path)}]"
    for name, one in plain.items():
        yield f"{name} = {render_value(getattr(table, name))}  # {one.describe()}"
    for name, one in fields.items():
        if name not in plain:
            yield from _table_lines(getattr(table, name), one, (*path, name))


def render_value(value: Any) -> str:
    if value is None:
        return f'"{UNSET}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(render_value, value))}]"
    return f'"{value}"' if isinstance(value, str) else repr(value)
