"""One forgetting under way: what is meant, up to which moment, and how a place finds out what of its own is."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis

from lithify.batching import batched
from lithify.events import Event
from lithify.forgetting import Target, accepted_later
from lithify.streams import keys
from lithify.streams.outage import outages

# Keys deleted by one command; nobody else is served while it runs.
PORTION: Final = 1_000


@dataclass(frozen=True, slots=True)
class Case:
    target: Target
    before_ms: int
    redis: Redis

    async def doomed_ids(self, event_ids: Iterable[str]) -> set[str]:
        """Of events that are meant, those that did not come after the request."""
        named = set(event_ids)
        return named - await accepted_later(self.redis, self.target.tenant, named, self.before_ms)

    async def doomed_events(self, events: Sequence[Event]) -> set[str]:
        return await self.doomed_ids(event.event_id for event in events if self.target.covers(event))

    async def drop_receipts(self, event_ids: Collection[str]) -> None:
        """Before the events themselves: from then on they count as old, and a crash leaves no receipt unknown."""
        names = (keys.receipt(self.target.tenant, event_id) for event_id in event_ids)
        for portion in batched(names, PORTION):
            with outages():
                await self.redis.delete(*portion)
