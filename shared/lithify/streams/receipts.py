"""What is known about one event on its way: when each stage was done, and what went wrong."""

from collections.abc import Awaitable, Iterable, Mapping
from typing import cast

from redis.asyncio import Redis

from lithify.streams import keys, script
from lithify.streams.outage import outages


class Receipts:
    """Reads and completes the receipts written by the accepting script. Both raise Unavailable if Redis is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def read(self, tenant: str, event_id: str) -> dict[str, str] | None:
        """The fields of a receipt; None if the tenant never sent the event or the receipt has expired."""
        with outages():
            reply = self._redis.hgetall(keys.receipt(tenant, event_id))
            fields = await cast("Awaitable[dict[bytes, bytes]]", reply)
        return {name.decode(): value.decode() for name, value in fields.items()} or None

    async def mark(self, tenant: str, marks: Iterable[tuple[str, Mapping[str, str | int]]]) -> None:
        """Add fields to the receipts of events in one call. Repeating is harmless, an expired receipt stays gone."""
        written = [(event_id, fields) for event_id, fields in marks if fields]
        if not written:
            return
        names = [keys.receipt(tenant, event_id) for event_id, _ in written]
        args: list[str | bytes | int] = []
        for _, fields in written:
            args += [2 * len(fields), *(value for pair in fields.items() for value in pair)]
        with outages():
            await script.load("mark").run(self._redis, names, args)
