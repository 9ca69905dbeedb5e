"""The newest raw turns of a session, readable from the moment they are accepted."""

from collections.abc import Awaitable, Iterable
from typing import cast

from redis.asyncio import Redis

from lithify.events import Event, TenantScope, decode_event
from lithify.streams import keys
from lithify.streams.delivery import Delivery
from lithify.streams.outage import outages


async def read_tail(redis: Redis, scope: TenantScope, session: str, limit: int, partitions: int) -> list[Event]:
    """Reads the last `limit` accepted turns of the user's session in their order of speaking, oldest first.

    Ordered by seq, not by ts: the clocks of two gateways may differ by more than the pause between two turns.
    Raises Unavailable if Redis did not answer.
    """
    if scope.user is None:
        raise ValueError("a tail belongs to a user; the scope names none")
    if limit <= 0:
        return []
    key = keys.tail(keys.partition_of(scope.tenant, session, partitions), scope.tenant, scope.user, session)
    with outages():
        entries = await cast("Awaitable[list[bytes]]", redis.lrange(key, -limit, -1))
    return sorted(map(_event, entries), key=lambda event: event.seq or 0)


async def drop_from_tails(redis: Redis, deliveries: Iterable[Delivery]) -> None:
    """Takes accepted turns out of the tails of their sessions again; one that is not there is no error.

    Raises Unavailable if Redis did not answer.
    """
    async with redis.pipeline(transaction=False) as pipe:
        for delivery in deliveries:
            event = delivery.event
            partition = keys.partition_in(delivery.entry.stream)
            fields = delivery.entry.fields
            entry = fields.get(b"seq", b"") + b" " + fields.get(b"event", b"")
            name = keys.tail(partition, event.tenant, event.user, event.session)
            pipe.lrem(name, 0, cast("str", entry))  # bytes are as good to it; its types do not say so
        with outages():
            await pipe.execute()


def _event(entry: bytes) -> Event:
    seq, envelope = entry.split(b" ", 1)
    return decode_event(envelope, int(seq))
