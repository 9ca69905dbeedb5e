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
    target: Target
    before_ms: int
    redis: Redis

    async def doomed_ids(self, event_ids: Iterable[str]) -> set[str]:
        """Of events that are meant, those that did not come after the request."""
        named = set(event_ids)
        return named - await find_accepted_later(self.redis, self.target.tenant, named, self.before_ms)

    async def doomed_events(self, events: Sequence[Event]) -> set[str]:
        return await self.doomed_ids(event.event_id for event in events if self.target.covers(event))

    async def drop_receipts(self, event_ids: Collection[str]) -> None:
        """Before the events themselves: from then on they count as old, and a crash leaves no receipt unknown."""
        names = (keys.receipt(self.target.tenant, event_id) for event_id in event_ids)
        for portion in batched(names, PORTION):
            with outages():
                await self.redis.delete(*portion)


class Place(Protocol):
    """Both may be repeated, and raise Unavailable while a server, the disk or a worker's grip prevents them."""

    @property
    def name(self) -> str:
        """As the receipt calls it."""

    async def clear(self, case: ForgettingRun) -> int:
        """Removes what is doomed and says how much that was."""

    async def left(self, case: ForgettingRun) -> int:
        """Counts, by looking again, what should be gone."""
