"""Tells an outage of Redis from an error of ours: the first is waited out, with growing pauses, the second is not."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from redis import exceptions

from lithify.errors import LithifyError, Overloaded, Unavailable

OUTAGES: Final = (
    exceptions.ConnectionError,
    exceptions.TimeoutError,
    exceptions.ReadOnlyError,
    exceptions.ClusterDownError,
    exceptions.TryAgainError,
    exceptions.NoPermissionError,
)
# Replies of a server that lives but cannot serve: disk full, still loading, a script running, replicas missing, a user
# whose password or rights were changed under us.
_OUTAGE_CODE: Final = re.compile(r"\b(MISCONF|LOADING|BUSY|NOREPLICAS|READONLY|NOAUTH|NOPERM|WRONGPASS)\b")
_MEMORY_CODE: Final = re.compile(r"\bOOM\b")


# Pauses while an outage lasts.
FIRST_MS: Final = 500
LONGEST_MS: Final = 16_000


class GroupMissing(LithifyError):
    """The consumer group does not exist; it is created again from the first entry."""


@contextmanager
def outages() -> Iterator[None]:
    """Raises Unavailable when Redis cannot serve, GroupMissing when a group is gone; other errors pass.

    Memory that is full is the kind of Unavailable that callers are told apart by 429: Overloaded.
    """
    try:
        yield
    except OUTAGES as error:
        raise Unavailable(f"Redis cannot be reached: {error}") from error
    except exceptions.ResponseError as error:
        # Scripts and transactions put their own words before the code, hence the search inside.
        if "NOGROUP" in str(error):
            raise GroupMissing(str(error)) from error
        if isinstance(error, exceptions.OutOfMemoryError) or _MEMORY_CODE.search(str(error)):
            raise Overloaded("Redis has no memory left: nothing is written until the workers catch up") from error
        if _OUTAGE_CODE.search(str(error)):
            raise Unavailable(f"Redis cannot serve: {error}") from error
        raise


def backoff_ms(failures: int, first_ms: int = FIRST_MS, longest_ms: int = LONGEST_MS) -> int:
    """Returns the pause after the given number of earlier failures in a row: doubling, bounded (spec 01 §8)."""
    # The shift is bounded too: an outage of hours must not compute astronomic numbers.
    return min(first_ms << min(failures, 32), longest_ms)
