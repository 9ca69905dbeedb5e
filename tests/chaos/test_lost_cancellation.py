"""Found by the chaos test: redis-py sends through `asyncio.wait_for`, which on Python 3.11 may swallow a cancellation.

A worker that was told to stop in that moment waited for ever for the end of its own lease renewal.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from redis.asyncio import Redis

from lithify.streams.delivery import StreamEntry
from lithify.streams.lease import Leases
from lithify.streams.member import Member

STREAM: Final = "lithify:turns:{0}"
PATIENCE_S: Final = 5.0


class SendingMember(Member):
    """Renews the way redis-py sends any command, and tells when one has just been sent."""

    def __init__(self, redis: Redis) -> None:
        super().__init__(redis, [STREAM], "embed", "w-0")
        self.sent = asyncio.Event()

    async def renew(self, stream: str, stream_ids: Sequence[str]) -> None:  # noqa: ARG002 - what a Member takes
        await asyncio.wait_for(self._send(), PATIENCE_S)

    async def _send(self) -> None:
        self.sent.set()


async def test_leaving_ends_the_renewal_even_if_a_cancellation_is_swallowed() -> None:
    member = SendingMember(Redis())
    leases = Leases(member, lease_ms=4)
    leases.hold([StreamEntry(STREAM, "1-0", {}, 1)])
    async with asyncio.timeout(PATIENCE_S), leases:
        await member.sent.wait()
