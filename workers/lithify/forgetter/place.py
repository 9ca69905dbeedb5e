"""The contract of everything that keeps what users said: it can be cleared, and asked what is left."""

from typing import Protocol

from lithify.forgetter.case import Case


class Place(Protocol):
    """Both may be repeated, and raise Unavailable while a server, the disk or a worker's grip prevents them."""

    @property
    def name(self) -> str:
        """As the receipt calls it."""

    async def clear(self, case: Case) -> int:
        """Removes what is doomed and says how much that was."""

    async def left(self, case: Case) -> int:
        """Counts, by looking again, what should be gone."""
