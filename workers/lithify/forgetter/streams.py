"""The streams: events that wait for a worker or were finished and not trimmed yet, and messages that were given up."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Final, cast

from redis.asyncio import Redis

from lithify.errors import Unavailable
from lithify.forgetter.place import ForgettingRun
from lithify.streams import DeadLetters, Letter, LetterId, keys, script
from lithify.streams.dead_letters import PAGE as LETTERS_PAGE
from lithify.streams.delivery import Delivery, StreamEntry, decode_all
from lithify.streams.outage import outages

PAGE: Final = 256
POLL_S: Final = 0.1
# Longer than a lease, so that what a dead worker held has had its chance to be taken over.
PATIENCE_S: Final = 90.0


@dataclass(frozen=True, slots=True)
class Backlog:
    """Clears the streams of accepted and of stored events."""

    redis: Redis
    partitions: int
    patience_s: float = PATIENCE_S
    name: str = "streams"

    async def clear(self, run: ForgettingRun) -> int:
        """Deletes entries, and waits for whoever holds one: what a worker writes must be there before it is deleted.

        `turns` before `stored`, since the first is what feeds the second.
        """
        return sum([await self._clear(run, stream) for stream in self._streams()])

    async def count_left(self, run: ForgettingRun) -> int:
        return sum([len(found) for stream in self._streams() async for found in self._find_doomed(run, stream)])

    def _streams(self) -> list[str]:
        return [*keys.turn_streams(self.partitions), *map(keys.stored, range(self.partitions))]

    async def _clear(self, run: ForgettingRun, stream: str) -> int:
        removed = 0
        held: list[str] = []
        async for found in self._find_doomed(run, stream):
            await run.drop_receipts({delivery.event.event_id for delivery in found})
            held += await self._discard(stream, [delivery.stream_id for delivery in found])
            removed += len(found)
        await self._await_release(stream, held)
        return removed

    async def _await_release(self, stream: str, held: Sequence[str]) -> None:
        given_up = time.monotonic() + self.patience_s
        while held := await self._discard(stream, held):
            if time.monotonic() > given_up:
                raise Unavailable(f"a worker still holds {len(held)} entries of {stream} that are to be forgotten")
            await asyncio.sleep(POLL_S)

    async def _discard(self, stream: str, ids: Sequence[str]) -> list[str]:
        """Deletes what no group has in its hands and returns the rest."""
        if not ids:
            return []
        with outages():
            reply: list[bytes] = await script.load("discard").run(self.redis, [stream], list(ids))
        return [stream_id.decode() for stream_id in reply]

    async def _find_doomed(self, run: ForgettingRun, stream: str) -> AsyncIterator[list[Delivery]]:
        async for page in self._pages(stream):
            readable, _ = decode_all(page)
            if found := [*compress(readable, await run.are_doomed([delivery.event for delivery in readable]))]:
                yield found

    async def _pages(self, stream: str) -> AsyncIterator[list[StreamEntry]]:
        behind = "-"
        while True:
            with outages():
                reply = await self.redis.xrange(stream, behind, "+", PAGE)
            entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", reply)
            if not entries:
                return
            yield [StreamEntry(stream, stream_id.decode(), fields, 1) for stream_id, fields in entries]
            behind = f"({entries[-1][0].decode()}"


@dataclass(frozen=True, slots=True)
class Letters:
    """Clears the dead letters. One that cannot be read names nobody; only the operator's purge removes it."""

    dead_letters: DeadLetters
    name: str = "dead_letters"

    async def clear(self, run: ForgettingRun) -> int:
        purged = 0
        async for found in self._find_doomed(run):
            await run.drop_receipts({letter.event.event_id for letter in found if letter.event})
            purged += await self.dead_letters.purge(run.target.scope, [letter.id for letter in found])
        return purged

    async def count_left(self, run: ForgettingRun) -> int:
        return sum([len(found) async for found in self._find_doomed(run)])

    async def _find_doomed(self, run: ForgettingRun) -> AsyncIterator[list[Letter]]:
        last: LetterId | None = None
        while page := await self.dead_letters.newest(run.target.scope, LETTERS_PAGE, last):
            events = {letter.id: letter.event for letter in page if letter.event}
            doomed = {*compress(events, await run.are_doomed([*events.values()]))}
            if found := [letter for letter in page if letter.id in doomed]:
                yield found
            last = page[-1].id
