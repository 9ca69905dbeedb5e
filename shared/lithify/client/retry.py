"""Retries: how often a call is tried, and how long is waited between; jittered, growing, bounded."""

import random
from collections.abc import Iterator
from typing import Final

from lithify.errors import Overloaded, Unavailable

FIRST_S: Final = 0.2
# A service that asks for more than this is asked again by the host's next call.
LONGEST_S: Final = 10.0


def pauses(tries: int) -> Iterator[float]:
    """Yields one pause less than there are tries; different for every client, so that they do not come back at once."""
    for number in range(tries - 1):
        yield FIRST_S * 2**number * random.uniform(0.5, 1.5)  # noqa: S311 - nobody gains by guessing it


def wait_s(pause_s: float, error: Unavailable) -> float:
    """Returns how long to wait: the pause, or longer if the service asked for it."""
    asked_for = error.retry_after_s if isinstance(error, Overloaded) else 0.0
    return min(LONGEST_S, max(pause_s, asked_for))
