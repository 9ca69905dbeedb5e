"""The one way to ask for the time, so that tests and replays can give another answer."""

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Returns milliseconds since the Unix epoch."""


def system_clock() -> int:
    return time.time_ns() // 1_000_000
