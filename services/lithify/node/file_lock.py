"""A lock that ends with its holder, however it ends, and names it."""

import fcntl
import os
from pathlib import Path


class FileLock:
    """An flock on a small file that holds the pid of its owner. Child processes given the descriptor share the lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    @property
    def descriptor(self) -> int:
        if self._descriptor is None:
            raise RuntimeError(f"lock {self.path} is not held")
        return self._descriptor

    def acquire(self) -> bool:
        """True if the lock is ours now; the pid of an earlier owner is wiped then."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        os.ftruncate(descriptor, 0)
        self._descriptor = descriptor
        return True

    def sign(self, pid: int) -> None:
        os.pwrite(self.descriptor, str(pid).encode(), 0)

    def signature(self) -> int | None:
        """The pid written by the owner; alive for sure only while the lock cannot be had."""
        text = self.path.read_text()
        return int(text) if text else None

    def let_go(self) -> None:
        """Close our descriptor; the lock lasts as long as a child has it open."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
