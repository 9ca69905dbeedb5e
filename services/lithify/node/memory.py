"""How much memory the embedded Redis may fill: a share of what this machine, or this container, has."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

MIB: Final = 2**20
# Rewriting its file, Redis may need its memory twice; half of the machine is left to the model and the vectors.
REDIS_SHARE: Final = 0.25
# An empty server has some; below this nothing fits in beside its buffers.
LEAST: Final = 16 * MIB

CGROUPS: Final = Path("/sys/fs/cgroup")
OWN_CGROUP: Final = Path("/proc/self/cgroup")


def choose_redis_memory(setting_mb: int | None) -> int:
    """Returns the bytes that the embedded Redis may fill: as set, else a share of the memory there is."""
    if setting_mb is not None:
        return setting_mb * MIB
    return max(LEAST, int(read_memory() * REDIS_SHARE))


def read_memory(cgroups: Path = CGROUPS, own: Path = OWN_CGROUP) -> int:
    """Returns the memory this process may use, in bytes: the machine's, or less where a control group says so."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *read_limits(cgroups, own)])


def read_limits(cgroups: Path, own: Path) -> Iterator[int]:
    """Yields the limits of the groups this process is in, of both versions; none where there are no groups."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            yield from _limits_above(cgroups, path, "memory.max")
        elif "memory" in controllers.split(","):
            yield from _limits_above(cgroups / "memory", path, "memory.limit_in_bytes")


def _limits_above(root: Path, path: str, name: str) -> Iterator[int]:
    """Looks at every group from ours up to the root: any of them may limit; inside a container ours is the root."""
    place = PurePosixPath(path.lstrip("/"))
    for group in (place, *place.parents):
        try:
            text = (root / group / name).read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            yield int(text)
