"""The contract of every place that keeps what users said, and the forgetting under way that it is called with."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from redis.asyncio import Redis

from lithify.batching import batched
from lithify.events import Event
from lithify.forgetting import LastAcceptance, Target, find_accepted_later, read_acceptances
from lithify.streams import keys, script
from lithify.streams.outage import outages

# Keys deleted by one command; nobody else is served while it runs.
PORTION: Final = 1_000


@dataclass(frozen=True, slots=True)
class ForgettingRun:
    """One forgetting under way: what is meant, up to which moment, and how a place finds out what of its own is.

    What was accepted up to `before_ms` goes, in ms of the ids on the stream; what came later stays, also under an
    event id that was used before. Where something does not say when it was accepted, the receipt of its event does.
    """

    target: Target
    before_ms: int
    redis: Redis

    async def find_doomed_ids(self, event_ids: Iterable[str]) -> set[str]:
        """Returns those of the targeted events that were not accepted after the request, by their receipts."""
        named = set(event_ids)
        return named - await find_accepted_later(self.redis, self.target.tenant, named, self.before_ms)

    async def are_doomed(self, events: Sequence[Event]) -> list[bool]:
        """Tells for each event whether it is meant, and was accepted up to the moment of the request."""
        untold = {event.event_id for event in events if event.accepted is None and self.target.covers(event)}
        old = await self.find_doomed_ids(untold) if untold else set()
        return [self._is_doomed(event, old) for event in events]

    def _is_doomed(self, event: Event, old: Collection[str]) -> bool:
        if not self.target.covers(event):
            return False
        return event.event_id in old if event.accepted is None else event.accepted <= self.before_ms

    async def read_later(self, event_ids: Iterable[str]) -> dict[str, LastAcceptance]:
        """Reads of the events that were accepted after the request when that was, and where in their session."""
        accepted = await read_acceptances(self.redis, self.target.tenant, event_ids)
        return {name: last for name, last in accepted.items() if last.ms > self.before_ms}

    async def drop_receipts(self, event_ids: Collection[str]) -> None:
        """Deletes the receipts of events, before the events themselves; those of a later acceptance stay.

        From then on the events count as old, and a crash leaves no receipt unknown.
        """
        names = (keys.receipt(self.target.tenant, event_id) for event_id in event_ids)
        for portion in batched(names, PORTION):
            with outages():
                await script.load("drop_receipts").run(self.redis, portion, [self.before_ms])


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
