"""Which Markdown files a folder holds, and which of them have settled after a change."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lithify.errors import Unavailable

SUFFIX: Final = ".md"
DEBOUNCE_S: Final = 0.15  # editors write a file in several steps (spec 11)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file looks like from outside; content is only read when this changes."""

    size: int
    mtime_ns: int


def scan(root: Path) -> dict[str, Stamp]:
    """Every Markdown file below the folder by its relative name; what leads outside of it or is hidden is left out.

    Raises Unavailable if the folder itself is gone: a lost mount must not look like deleted documents.
    """
    if not root.is_dir():
        raise Unavailable(f"the folder of authored documents {root} cannot be read")
    inside = root.resolve()
    found = {}
    for path in root.rglob(f"*{SUFFIX}"):
        name = path.relative_to(root).as_posix()
        stamp = None if _is_hidden(name) else _stamp(path, inside)
        if stamp is not None:
            found[name] = stamp
    return found


def read_file(root: Path, name: str) -> bytes | None:
    """None if it is gone, or leads outside by now."""
    path = root / name
    try:
        return path.read_bytes() if _stamp(path, root.resolve()) is not None else None
    except FileNotFoundError:
        return None


def _is_hidden(name: str) -> bool:
    """Tools keep their own state in such folders, in Markdown too."""
    return any(part.startswith(".") for part in name.split("/"))


def _stamp(path: Path, inside: Path) -> Stamp | None:
    real = Path(os.path.realpath(path))  # Path.resolve raises for links in a circle
    if not real.is_relative_to(inside) or not real.is_file():
        return None
    try:
        status = real.stat()
    except FileNotFoundError:  # a file may go between two looks
        return None
    return Stamp(status.st_size, status.st_mtime_ns)


@dataclass(slots=True)
class Debounce:
    """Remembers how every file looked when it was last handled, and since when it looks as it does now."""

    handled: dict[str, Stamp] = field(default_factory=dict)
    waiting: dict[str, tuple[Stamp | None, float]] = field(default_factory=dict)

    def due(self, seen: Mapping[str, Stamp], now: float) -> dict[str, Stamp | None]:
        """The files that changed, appeared or went (None), and have looked the same for long enough since."""
        changed = {name: seen.get(name) for name in {*seen, *self.handled} if seen.get(name) != self.handled.get(name)}
        self.waiting = {name: self._since(name, stamp, now) for name, stamp in changed.items()}
        return {name: stamp for name, (stamp, since) in self.waiting.items() if now - since >= DEBOUNCE_S}

    def done(self, name: str, stamp: Stamp | None) -> None:
        self.waiting.pop(name, None)
        if stamp is None:
            self.handled.pop(name, None)
        else:
            self.handled[name] = stamp

    def _since(self, name: str, stamp: Stamp | None, now: float) -> tuple[Stamp | None, float]:
        waited = self.waiting.get(name)
        return waited if waited and waited[0] == stamp else (stamp, now)
