"""The data folder is its owner's alone: folders 0700, files 0600, from the moment they are made."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import structlog

from lithify.settings import Settings

UMASK: Final = 0o077
OTHERS: Final = 0o077
# What we put into the data folder. It may be a folder that holds other things too, which are not ours to change.
OWN: Final = ("redis", "vectors", "archive", "traces", "node.log", "child.lock")

log = structlog.get_logger(__name__)


def restrict_new_files() -> None:
    """Lets nobody else read what this process and its children make from now on."""
    os.umask(UMASK)


def restrict_data(settings: Settings) -> None:
    """Makes the data folder private, and what earlier releases left readable in it. Nothing is followed out of it."""
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    changed = sum(restrict(path) for path in list_own(settings.data_dir))
    changed += sum(restrict(path) for path in walk(settings.archive_folder))
    if changed:
        log.warning("data_made_private", folder=str(settings.data_dir), changed=changed)


def list_own(data_dir: Path) -> Iterator[Path]:
    # A sticky folder is the machine's for temporary files.
    if not data_dir.stat().st_mode & stat.S_ISVTX:
        yield data_dir
    for name in OWN:
        yield from walk(data_dir / name)


def walk(top: Path) -> Iterator[Path]:
    if top.is_symlink() or not top.exists():
        return
    yield top
    for folder, _, files in os.walk(top):
        yield Path(folder)
        yield from (Path(folder, name) for name in files)


def restrict(path: Path) -> bool:
    """Takes from a path what others may do; returns whether there was anything. What is not ours is reported."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode) or not mode & OTHERS:
            return False
        path.chmod(stat.S_IMODE(mode) & ~OTHERS)
    except OSError as error:
        log.warning("data_not_private", path=str(path), reason=error.strerror)
        return False
    return True
