"""Sees to it that a child process does not outlive this one, whatever ends this one: kill -9 included."""

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Final

from lithify.locks import FileLock
from lithify.node import watchdog

# A watchdog whose child is gone has nothing to do but end.
DISMISS_S: Final = 10.0


class ChildGuard:
    """A watchdog process beside one child, which ends the child when this process is gone.

    Make it before the child, start the child with `lock.descriptor` among its descriptors, then call `protect()`; call
    `dismiss()` when the child has ended. `grace_s` is how long the child may take to end when it is asked to.
    """

    def __init__(self, lock: FileLock, grace_s: float) -> None:
        """Takes a lock that is held; the child is to keep it, and with it its pid, for as long as it lives."""
        self._lock = lock
        # An own description of the file: a shared one would hold the lock itself.
        descriptor = os.open(lock.path, os.O_RDWR)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                # Without site packages it starts in moments and takes little memory.
                [sys.executable, "-I", "-S", watchdog.__file__, str(descriptor), str(grace_s)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(descriptor,),
                cwd="/",
            )
        finally:
            os.close(descriptor)

    def protect(self, pid: int) -> None:
        """Hands the lock over to the child, and the child to the watchdog."""
        self._lock.sign(pid)
        self._lock.let_go()
        if self._process.stdin is not None:
            self._process.stdin.write(str(pid).encode())
            self._process.stdin.flush()

    def dismiss(self) -> None:
        """Ends the watchdog, and the child first if it still runs."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(DISMISS_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class GuardedProcess(subprocess.Popen[bytes]):
    """A child process that ends with this one: by SIGTERM, and by SIGKILL `grace_s` later."""

    def __init__(self, command: Sequence[str], lock: FileLock, grace_s: float, **options: Any) -> None:
        """Takes a lock that is held, and the options of `Popen`."""
        self._guard = ChildGuard(lock, grace_s)
        try:
            super().__init__(command, pass_fds=(lock.descriptor,), **options)
        except BaseException:
            self._guard.dismiss()
            raise
        self._guard.protect(self.pid)

    def release(self) -> None:
        """Ends the guard; call it when the process has ended."""
        self._guard.dismiss()
