"""Writes the streams: accepts events durably and at most once each, and announces those that are in the store."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from redis.asyncio import Redis

from lithify.errors import Overloaded
from lithify.events import Clock, Event, encode_event, is_heartbeat
from lithify.streams import keys, script
from lithify.streams.delivery import FIRST_ID, Delivery
from lithify.streams.groups import EMBED
from lithify.streams.outage import outages

DAY_S: Final = 86_400


Status = Literal["accepted", "duplicate", "conflict", "far", "full"]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Says what became of one event. A duplicate or conflict carries the stream id and seq of the first acceptance.

    One whose position lies too far ahead is refused as `far`, and carries the highest position of its session.
    """

    event_id: str
    stream_id: str
    status: Status
    seq: int


@dataclass(frozen=True, slots=True)
class Retention:
    """Says how long the accepting script's keys live. Hosts retry for hours, not weeks, hence days for receipts."""

    receipt_s: int = 7 * DAY_S
    tail_s: int = 7 * DAY_S
    # A session silent for longer counts its turns from 1 again; ts still orders them.
    session_s: int = 365 * DAY_S
    # The mandatory tail is 4 turns (spec 07); the rest covers bundles and turns not embedded yet.
    tail_length: int = 64
    # No prompt has room for more of the newest turns. A list may grow to twice as much: see accept.lua.
    tail_bytes: int = 2 * 2**20


class Producer:
    """Accepts events. `share` is how many of a tenant may wait in a partition before its further ones go to bulk.

    With 0 everybody shares one lane. `is_bulk_open` says whether bulk may grow.
    """

    def __init__(
        self,
        redis: Redis,
        partitions: int,
        clock: Clock,
        retention: Retention | None = None,
        share: int = 0,
        is_bulk_open: Callable[[], bool] = lambda: True,
    ) -> None:
        self._redis = redis
        self._share = share
        self._is_bulk_open = is_bulk_open
        self._partitions = partitions
        self._clock = clock
        self._retention = retention or Retention()

    async def accept(self, items: Sequence[tuple[Event, str]]) -> list[Acceptance]:
        """Accepts events, each with the digest of what the host sent. In the tail and on the stream on return.

        Heartbeats are on the stream only: they are no part of a conversation.

        Raises Unavailable if Redis did not answer; the events may or may not be accepted then, and sending the same
        again is safe. Each item is judged by itself; a refused one does not stop its neighbours. Raises Overloaded if
        one had to be refused because too much of its tenant waits; all may be sent again then, too.
        """
        if not items:
            return []
        names = [name for event, _ in items for name in self._keys(event)]
        args = [*self._limits(), *_arguments(items)]
        with outages():
            reply = await script.load("accept").run(self._redis, names, args)
        accepted = _acceptances(items, reply.decode().split(" "))
        if any(one.status == "full" for one in accepted):
            raise Overloaded("too many turns of this tenant wait to be processed; send the same again later")
        return accepted

    def _keys(self, event: Event) -> tuple[str, ...]:
        partition = keys.partition_of(event.tenant, event.session, self._partitions)
        return (
            keys.receipt(event.tenant, event.event_id),
            keys.session_seq(partition, event.tenant, event.user, event.session),
            *keys.turn_lanes(partition),
            keys.lane(partition, event.tenant),
            keys.tail(partition, event.tenant, event.user, event.session),
        )

    def _limits(self) -> tuple[int | str, ...]:
        kept = self._retention
        lifetimes = (kept.receipt_s, kept.session_s, kept.tail_s)
        lanes = (self._share, EMBED, "1" if self._is_bulk_open() else "")
        return self._clock(), *lifetimes, kept.tail_length, kept.tail_bytes, *lanes


def _arguments(items: Sequence[tuple[Event, str]]) -> Iterator[str | bytes | int]:
    for event, digest in items:
        yield digest
        yield encode_event(event)
        yield "" if event.seq is None else event.seq
        yield "" if is_heartbeat(event) else "1"


def _acceptances(items: Sequence[tuple[Event, str]], words: Sequence[Any]) -> list[Acceptance]:
    judged = zip(items, words[::3], words[1::3], words[2::3], strict=True)
    return [Acceptance(event.event_id, stream_id, status, int(seq)) for (event, _), status, stream_id, seq in judged]


async def publish_stored(redis: Redis, deliveries: Iterable[Delivery]) -> None:
    """Passes the events on to `stored:{p}` of their partition. Repeating is harmless: effects are idempotent."""
    async with redis.pipeline(transaction=False) as pipe:
        for delivery in deliveries:
            entry = delivery.entry
            # Where it was accepted stays known: its entry there has an id of its own.
            fields: dict[Any, Any] = {FIRST_ID: entry.stream_id, **entry.fields}
            pipe.xadd(keys.stored(keys.partition_in(entry.stream)), fields)
        with outages():
            await pipe.execute()
