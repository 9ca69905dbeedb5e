"""The contract of a place that keeps packed receipts, and the bounds that hold in each."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

# A packed receipt has a few kilobytes, 256 KiB at most.
PAGE: Final = 32
MIB: Final = 2**20


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """Bounds what one tenant may keep; beyond either number its oldest receipts go."""

    ttl_s: int = 86_400
    most: int = 2_000
    most_bytes: int = 16 * MIB


DEFAULT_LIMITS: Final = TraceLimits()


class TraceShelf(Protocol):
    """Keeps packed receipts of each tenant apart, within `TraceLimits`, without a promise that they survive a crash.

    Every method raises Unavailable while the place cannot be reached or has no room.
    """

    async def put(self, tenant: str, trace_id: str, data: bytes) -> None: ...

    async def get(self, tenant: str, trace_id: str) -> bytes | None:
        """Returns None for what never was, has expired, had to make room, or belongs to another tenant."""

    def pages(self, tenant: str) -> AsyncIterator[Mapping[str, bytes]]:
        """Yields all receipts of a tenant by their id, some at a time."""

    async def remove(self, tenant: str, trace_ids: Sequence[str]) -> int:
        """Removes receipts for good and returns how many were there."""

    async def sweep(self) -> None:
        """Removes what has expired, where that does not happen by itself."""
