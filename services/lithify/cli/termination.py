"""SIGTERM for commands that started something: they unwind as after Ctrl-C, and what they started is stopped."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

EXIT_TERMINATED = 128 + signal.SIGTERM


@contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    def leave(*_: object) -> NoReturn:
        sys.exit(EXIT_TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
