"""Ends a child process whose parent is gone; runs as a process of its own, on the standard library alone.

    watchdog.py LOCK_DESCRIPTOR GRACE_SECONDS

Standard input is a pipe that only the parent can write to: it tells the child's pid, and its end is the parent's end,
however that came about. A signal of the parent's death would be shorter, but knows no macOS and goes by threads.

The child holds a lock on the file of the descriptor, in which its pid is written. While it cannot be had, that pid is
not another's.
"""

import fcntl
import os
import signal
import sys
import time
from typing import Final

POLL_S: Final = 0.05


def main() -> None:
    # A terminal's Ctrl-C and the end of a session are for the parent; this ends with it in any case.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    lock = int(sys.argv[1])
    grace_s = float(sys.argv[2])
    told = sys.stdin.buffer.read()
    if told:
        end_child(lock, int(told), grace_s)


def end_child(lock: int, pid: int, grace_s: float) -> None:
    """Asks the child to end, which syncs its data, and kills it if it does not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not is_held_by(lock, pid):
            return
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + grace_s
        while is_held_by(lock, pid) and time.monotonic() < deadline:
            time.sleep(POLL_S)


def is_held_by(lock: int, pid: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        # Whoever has started another child on the folder has written its pid.
        return os.pread(lock, 32, 0) == str(pid).encode()
    # Nobody's any more: who finds it taken for this moment must not look for its last holder.
    os.ftruncate(lock, 0)
    fcntl.flock(lock, fcntl.LOCK_UN)
    return False


if __name__ == "__main__":
    main()
