"""Keeps streams and dead letters short, groups tidy, and losses from going unnoticed; runs beside the consumers."""

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NoReturn

import structlog
from redis.asyncio import Redis

from lithify.errors import Unavailable
from lithify.streams import script
from lithify.streams.letter_index import LetterIndex
from lithify.streams.outage import GroupMissing, outages
from lithify.streams.progress import GroupProgress, StreamId, read_progress

# Streams grow by what is processed in between; at 1,000 turns/s of 1 KiB that is 30 MB.
EVERY_S: Final = 30.0
# A live consumer is heard of with every read, so a day of silence means that its slot is no more.
IDLE_MS: Final = 86_400_000
# Lost entries told at once; that there are any is what matters.
PAGE: Final = 1_000

Lost = tuple[str, str, str]
"""Stream, group and entry."""

log = structlog.get_logger(__name__)


def plan_trim(groups: Mapping[str, GroupProgress], required: Collection[str]) -> StreamId | None:
    """Returns the id below which entries may go: the lowest floor. None while a required group does not exist yet."""
    if not groups or not set(required) <= groups.keys():
        return None
    return min(progress.floor for progress in groups.values())


async def trim(redis: Redis, stream: str, required: Collection[str]) -> int:
    """Removes what all groups have finished, never by length or age, and returns how many entries went.

    Only whole nodes of the stream go, which is cheap.
    """
    with outages():
        floor = plan_trim(await read_progress(redis, stream), required)
        return 0 if floor is None else int(await redis.xtrim(stream, minid=str(floor), approximate=True))


async def dismiss_idle(redis: Redis, stream: str, group: str, idle_ms: int) -> list[str]:
    """Removes consumers that were not heard of for idle_ms and hold nothing; returns their names.

    A plain DELCONSUMER would silently drop the pending entries of a consumer that holds some.
    """
    with outages():
        idle = [c["name"].decode() for c in await redis.xinfo_consumers(stream, group) if c["idle"] >= idle_ms]
        return [name for name in idle if await script.load("dismiss").run(redis, [stream], [group, name])]


@dataclass(slots=True)
class Sweepings:
    """Counts what the janitor of this process has done and found since its start."""

    trimmed: int = 0
    dismissed: int = 0
    lost: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class KeptLetters:
    """Says how many dead letters of each tenant are kept; 0 keeps all."""

    index: LetterIndex
    most: int

    async def sweep(self) -> int:
        """Deletes what is too much and returns how many letters that were."""
        await self.index.catch_up()
        return await self.index.drop_excess(self.most) if self.most else 0


class Janitor:
    """Looks after streams, each with the groups it must have. Any number of janitors may do so at once."""

    def __init__(
        self,
        redis: Redis,
        required: Mapping[str, Collection[str]],
        idle_ms: int = IDLE_MS,
        letters: KeptLetters | None = None,
    ) -> None:
        self._redis = redis
        self._letters = letters
        self._required = required
        self._idle_ms = idle_ms
        self._known_lost: set[Lost] = set()
        self.sweepings = Sweepings()

    async def run(self, every_s: float = EVERY_S) -> NoReturn:
        while True:
            await asyncio.sleep(every_s)
            try:
                await self.sweep()
            except Unavailable as error:
                log.warning("janitor_waits", error=str(error))

    async def sweep(self) -> None:
        """Passes once over all streams. Raises Unavailable if Redis did not answer."""
        lost: set[Lost] = set()
        for stream, required in self._required.items():
            # A group may be destroyed under way; consumers make it again, and the next round finds it.
            with suppress(GroupMissing):
                lost |= await self._tidy(stream)
                self.sweepings.trimmed += await trim(self._redis, stream, required)
        self._report(lost)
        if self._letters is not None:
            self.sweepings.dropped += await self._letters.sweep()

    async def _tidy(self, stream: str) -> set[Lost]:
        lost: set[Lost] = set()
        with outages():
            groups = await read_progress(self._redis, stream)
        for group in groups:
            lost |= {(stream, group, stream_id) for stream_id in await find_lost(self._redis, stream, group)}
            self.sweepings.dismissed += len(await dismiss_idle(self._redis, stream, group, self._idle_ms))
        return lost

    def _report(self, lost: set[Lost]) -> None:
        for stream, group, stream_id in sorted(lost - self._known_lost):
            log.error("entry_lost", stream=stream, group=group, stream_id=stream_id)
        self.sweepings.lost += len(lost - self._known_lost)
        # Those acknowledged meanwhile are forgotten here too.
        self._known_lost = lost


async def find_lost(redis: Redis, stream: str, group: str) -> list[str]:
    """Returns ids pending for a group whose entries were trimmed away, which no code of ours does.

    Entries deleted before anyone read them cannot be counted afterwards: Redis adapts its own figures to what is left.
    """
    with outages():
        found: list[bytes] = await script.load("lost").run(redis, [stream], [group, PAGE])
    return [stream_id.decode() for stream_id in found]
