"""Locks between processes that end with their holder, however it ends.

There is one lock for all folders that only one process may use: of the node, the vectors, the archive.
"""

import fcntl
import os
import time
from pathlib import Path
from typing import Final

POLL_S: Final = 0.05


class FileLock:
    """An flock on a small file that holds the pid of its owner; child processes given the descriptor share the lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        return self._descriptor is not None

    @property
    def descriptor(self) -> int:
        if self._descriptor is None:
            raise RuntimeError(f"lock {self.path} is not held")
        return self._descriptor

    def acquire(self, patience_s: float = 0.0) -> bool:
        """Takes and signs the lock. Returns False if another has it; another lock object of ours counts as foreign."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + patience_s
        while not _try_lock(descriptor):
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return False
            time.sleep(POLL_S)
        self._descriptor = descriptor
        self.sign(os.getpid())
        return True

    def sign(self, pid: int) -> None:
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, str(pid).encode(), 0)

    def signature(self) -> int | None:
        """Returns the pid written by the owner; it is alive for sure only while the lock cannot be had."""
        text = self.path.read_text().strip()
        return int(text) if text else None

    def let_go(self) -> None:
        """Closes our descriptor; the lock lasts as long as a child has it open."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
