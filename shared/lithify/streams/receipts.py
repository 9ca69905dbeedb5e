"""What is known about one event on its way: when each stage was done, and what went wrong."""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Final, cast

from redis.asyncio import Redis

from lithify.streams import keys, script
from lithify.streams.outage import outages

Mark = tuple[str, str, Mapping[str, str | int]]
"""Tenant, event id, and the fields to add to the receipt of that event."""

_OUTCOMES: Final = {"1": True, "0": False}


class Receipts:
    """Reads and completes the receipts written by the accepting script. Every call raises Unavailable in an outage."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def read(self, tenant: str, event_id: str) -> dict[str, str] | None:
        """Returns the fields of a receipt; None if the tenant never sent the event or the receipt has expired."""
        with outages():
            reply = self._redis.hgetall(keys.receipt(tenant, event_id))
            fields = await cast("Awaitable[dict[bytes, bytes]]", reply)
        return {name.decode(): value.decode() for name, value in fields.items()} or None

    async def read_outcomes(self, events: Sequence[tuple[str, str]]) -> list[bool | None]:
        """Says of events, named by tenant and id, whether recall can find them; None where that is not known yet.

        One call however many there are. What will never be memory, or has no receipt, cannot be found.
        """
        names = [keys.receipt(tenant, event_id) for tenant, event_id in events]
        with outages():
            reply: bytes = await script.load("outcomes").run(self._redis, names, [])
        return [_OUTCOMES.get(letter) for letter in reply.decode()]

    async def mark(self, tenant: str, marks: Iterable[tuple[str, Mapping[str, str | int]]]) -> None:
        """Adds fields to the receipts of one tenant's events; promises what `mark_all` does."""
        await self.mark_all((tenant, event_id, fields) for event_id, fields in marks)

    async def mark_all(self, marks: Iterable[Mark]) -> None:
        """Adds fields to receipts, whatever their tenants, in one call.

        Repeating is harmless, and a receipt that has expired stays gone.
        """
        written = [(keys.receipt(tenant, event_id), fields) for tenant, event_id, fields in marks if fields]
        if not written:
            return
        args: list[str | bytes | int] = []
        for _, fields in written:
            args += [2 * len(fields), *(value for pair in fields.items() for value in pair)]
        with outages():
            await script.load("mark").run(self._redis, [name for name, _ in written], args)
