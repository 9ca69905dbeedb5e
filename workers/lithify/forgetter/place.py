"""The contract of every place that keeps what users said, and the forgetting under way that it is called with."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from redis.asyncio import Redis

from lithify.batching import batched
from lithify.events import Event
from lithify.forgetting import Target, find_accepted_later
from lithify.streams import keys
from lithify.streams.outage import outages

# Keys deleted by one command; nobody else is served while it runs.
PORTION: Final = 1_000


@dataclass(frozen=True, slots=True)
class ForgettingRun:
    """One forgetting under way: what is meant, up to which moment, and how a place finds out what of its own is."""

    target: Target
    before_ms: int
    redis: Redis

    async def find_doomed_ids(self, event_ids: Iterable[str]) -> set[str]:
        """Returns those of the targeted events that did not come after the request."""
        named = set(event_ids)
        return named - await find_accepted_later(self.redis, self.target.tenant, named, self.before_ms)

    async def find_doomed_events(self, events: Sequence[Event]) -> set[str]:
        return await self.find_doomed_ids(event.event_id for event in events if self.target.covers(event))

    async def drop_receipts(self, event_ids: Collection[str]) -> None:
        """Deletes the receipts of events, before the events themselves.

        From then on the events count as old, and a crash leaves no receipt unknown.
        """
        names = (keys.receipt(self.target.tenant, event_id) for event_id in event_ids)
        for portion in batched(names, PORTION):
            with outages():
                await self.redis.delete(*portion)


class Place(Protocol):
    """A place can be cleared, and asked what is left.

    Both may be repeated, and raise Unavailable while a server, the disk or a worker's grip prevents them.
    """

    @property
    def name(self) -> str:
        """Names the place in the receipt."""

    async def clear(self, run: ForgettingRun) -> int:
        """Removes what is doomed and says how much that was."""

    async def count_left(self, run: ForgettingRun) -> int:
        """Counts, by looking again, what should be gone."""
