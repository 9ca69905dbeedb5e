"""The newest raw turns of a session, readable from the moment they are accepted."""

from collections.abc import Awaitable
from typing import cast

from redis.asyncio import Redis

from lithify.events import Event, TenantScope, decode_event
from lithify.streams import keys
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


def _event(entry: bytes) -> Event:
    seq, envelope = entry.split(b" ", 1)
    return decode_event(envelope, int(seq))
