"""Keeps the entries a consumer is working on from being handed to someone else."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from types import TracebackType
from typing import Final, Self

import structlog

from lithify.errors import Unavailable
from lithify.streams.connection import end_tasks
from lithify.streams.delivery import StreamEntry
from lithify.streams.member import Member
from lithify.streams.outage import GroupMissing, outages

# Renewed four times per lease: one lost renewal must not hand a live message to someone else.
RENEWALS_PER_LEASE: Final = 4

log = structlog.get_logger(__name__)


class Leases:
    """The entries in flight. Inside the `async with` block their leases are renewed, however long the work takes."""

    def __init__(self, member: Member, lease_ms: int) -> None:
        self._member = member
        self._lease_ms = lease_ms
        self._held: defaultdict[str, dict[str, StreamEntry]] = defaultdict(dict)
        self._renewal: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return sum(map(len, self._held.values()))

    def hold(self, entries: Iterable[StreamEntry]) -> None:
        for entry in entries:
            self._held[entry.stream][entry.stream_id] = entry

    def drop(self, entries: Iterable[StreamEntry]) -> None:
        for entry in entries:
            self._held[entry.stream].pop(entry.stream_id, None)

    async def __aenter__(self) -> Self:
        self._renewal = asyncio.create_task(self._keep_renewing(), name="lease-renewal")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._renewal is None:
            return
        await end_tasks([self._renewal])
        if not self._renewal.cancelled():
            self._renewal.result()

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(self._lease_ms / 1000 / RENEWALS_PER_LEASE)
            try:
                await self.renew()
            except (Unavailable, GroupMissing) as error:
                log.warning("leases_not_renewed", error=str(error))

    async def renew(self) -> None:
        with outages():
            for stream, held in list(self._held.items()):
                if held:
                    await self._member.renew(stream, list(held))

    async def release(self) -> None:
        """Gives back what was never worked off, so that a stop during an outage costs no attempt."""
        with outages():
            for entry in [entry for held in self._held.values() for entry in held.values()]:
                await self._member.release(entry, self._lease_ms)
        self._held.clear()
