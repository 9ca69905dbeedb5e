"""Locks between processes that end with their holder, however it ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from lithify.archive.durable import disk_errors, make_folder
from lithify.errors import Unavailable

POLL_S: Final = 0.05
_WHOLE_ARCHIVE: Final = "exclusive.lock"


@dataclass(frozen=True, slots=True)
class Lock:
    descriptor: int

    @classmethod
    def take(cls, path: Path, patience_s: float = 0.0) -> Self | None:
        """None if another process, or another lock of this one, still holds it after that time."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + patience_s
        while not _locked(descriptor):
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(POLL_S)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        os.close(self.descriptor)


def holder_of(path: Path) -> str:
    """The process that took the lock last; alive for sure only while the lock cannot be had."""
    return path.read_text() or "unknown"


@contextmanager
def whole_archive(archive: Path) -> Iterator[None]:
    """For whoever reads all of the archive into something, or rewrites it: one at a time.

    Otherwise a rebuild could bring back what is being forgotten meanwhile. Appending goes on. Raises Unavailable
    while another holds it.
    """
    with disk_errors(archive):
        make_folder(archive)
        lock = Lock.take(archive / _WHOLE_ARCHIVE)
    if lock is None:
        holder = holder_of(archive / _WHOLE_ARCHIVE)
        raise Unavailable(f"process {holder} is rebuilding from the archive in {archive} or rewriting it; try later")
    try:
        yield
    finally:
        lock.release()


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
