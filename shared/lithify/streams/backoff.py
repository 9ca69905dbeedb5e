"""How long to wait before asking a dependency again."""

from typing import Final

FIRST_MS: Final = 500
LONGEST_MS: Final = 16_000


def backoff_ms(failures: int, first_ms: int = FIRST_MS, longest_ms: int = LONGEST_MS) -> int:
    """Pause after the given number of earlier failures in a row: doubling, bounded (spec 01 §8)."""
    # The shift is bounded too: an outage of hours must not compute astronomic numbers.
    return min(first_ms << min(failures, 32), longest_ms)
