"""Writes the streams: accepts events durably and at most once each, and announces those that are in the store."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from redis.asyncio import Redis

from lithify.events import Clock, Event, encode_event, is_heartbeat
from lithify.streams import keys, script
from lithify.streams.delivery import Delivery
from lithify.streams.outage import outages

DAY_S: Final = 86_400


Status = Literal["accepted", "duplicate", "conflict"]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Says what became of one event. A duplicate or conflict carries the stream id and seq of the first acceptance."""

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


class Producer:
    def __init__(self, redis: Redis, partitions: int, clock: Clock, retention: Retention | None = None) -> None:
        self._redis = redis
        self._partitions = partitions
        self._clock = clock
        self._retention = retention or Retention()

    async def accept(self, items: Sequence[tuple[Event, str]]) -> list[Acceptance]:
        """Accepts events, each with the digest of what the host sent. In the tail and on the stream on return.

        Heartbeats are on the stream only: they are no part of a conversation.

        Raises Unavailable if Redis did not answer; the events may or may not be accepted then, and sending the same
        again is safe. Each item is judged by itself; a conflict does not stop its neighbours.
        """
        if not items:
            return []
        names = [name for event, _ in items for name in self._keys(event)]
        args = [*self._limits(), *_arguments(items)]
        with outages():
            reply = await script.load("accept").run(self._redis, names, args)
        return _acceptances(items, reply.decode().split(" "))

    def _keys(self, event: Event) -> tuple[str, str, str, str]:
        partition = keys.partition_of(event.tenant, event.session, self._partitions)
        return (
            keys.receipt(event.tenant, event.event_id),
            keys.session_seq(partition, event.tenant, event.user, event.session),
            keys.turns(partition),
            keys.tail(partition, event.tenant, event.user, event.session),
        )

    def _limits(self) -> tuple[int, int, int, int, int]:
        kept = self._retention
        return self._clock(), kept.receipt_s, kept.session_s, kept.tail_s, kept.tail_length


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
            pipe.xadd(keys.stored(keys.partition_in(entry.stream)), dict[Any, Any](entry.fields))
        with outages():
            await pipe.execute()


async def publish_again(redis: Redis, partitions: int, events: Iterable[Event]) -> None:
    """Passes on events that could not be looked at when they were first announced, for want of a vector."""
    async with redis.pipeline(transaction=False) as pipe:
        for event in events:
            partition = keys.partition_of(event.tenant, event.session, partitions)
            pipe.xadd(keys.stored(partition), {"event": encode_event(event)})
        with outages():
            await pipe.execute()
