"""Which dead letters each tenant has, and no more of them than may be kept."""

from collections import defaultdict
from collections.abc import Awaitable, Iterable, Mapping
from typing import Final, cast

import structlog
from redis.asyncio import Redis

from lithify.streams import keys
from lithify.streams.letter import LetterId, read_letter
from lithify.streams.outage import outages
from lithify.streams.progress import StreamId
from lithify.telemetry.metrics import DEAD_LETTERS_DROPPED

# Letters read per call; each may carry a turn of the largest size.
PAGE: Final = 50

log = structlog.get_logger(__name__)


class LetterIndex:
    """The letters of each tenant by their ids. Every call raises Unavailable in an outage, and may be repeated.

    It follows the letters instead of being written with them, so that it also knows what was buried before there was
    an index, or by a worker of an older release. Each letter is read once for it. It may name a letter that is gone,
    and never misses one that lies below what `catch_up` has read.
    """

    def __init__(self, redis: Redis, partitions: int) -> None:
        self._redis = redis
        self._partitions = partitions

    async def catch_up(self) -> None:
        """Takes in what was buried since the last time."""
        with outages():
            marks = await cast(
                "Awaitable[list[bytes | None]]", self._redis.mget(map(keys.letters_read, range(self._partitions)))
            )
            for partition, mark in enumerate(marks):
                await self._follow(partition, "0-0" if mark is None else mark.decode())

    async def _follow(self, partition: int, mark: str) -> None:
        while True:
            reply = await self._redis.xrange(keys.dead(partition), f"({mark}", "+", PAGE)
            entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", reply)
            if not entries:
                return
            owned: defaultdict[str | None, list[LetterId]] = defaultdict(list)
            for entry, fields in entries:
                letter = read_letter(LetterId(StreamId.parse(entry), partition), fields)
                owned[letter.tenant].append(letter.id)
            mark = entries[-1][0].decode()
            await self._add(owned, partition, mark)

    async def _add(self, owned: Mapping[str | None, Iterable[LetterId]], partition: int, mark: str) -> None:
        async with self._redis.pipeline(transaction=True) as pipe:
            for tenant, ids in owned.items():
                pipe.zadd(keys.letters(tenant), {str(letter_id): letter_id.buried.ms for letter_id in ids})
                pipe.sadd(keys.LETTER_OWNERS, tenant or "")
            pipe.set(keys.letters_read(partition), mark)
            await pipe.execute()

    async def read(self, tenant: str) -> list[LetterId]:
        """Returns what is known of a tenant's letters, in no order."""
        return await self._range(tenant, -1)

    async def remove(self, tenant: str | None, ids: Iterable[LetterId]) -> None:
        """Forgets letters that were redriven or are gone."""
        if names := list(map(str, ids)):
            with outages():
                await self._redis.zrem(keys.letters(tenant), *names)

    async def delete(self, tenant: str | None, ids: Iterable[LetterId]) -> int:
        """Deletes letters of a tenant for good and returns how many were there."""
        doomed: defaultdict[int, list[LetterId]] = defaultdict(list)
        for letter_id in ids:
            doomed[letter_id.partition].append(letter_id)
        deleted = 0
        for partition, found in doomed.items():
            with outages():
                deleted += int(await self._redis.xdel(keys.dead(partition), *(str(one.buried) for one in found)))
            await self.remove(tenant, found)
        return deleted

    async def drop_excess(self, most: int) -> int:
        """Deletes the oldest letters of every tenant that has more than `most` and returns how many went.

        By tenant, so that nobody's failures push out the letters of others. The archive keeps the events.
        """
        with outages():
            owners = await cast("Awaitable[set[bytes]]", self._redis.smembers(keys.LETTER_OWNERS))
        dropped = sum([await self._drop_excess(owner.decode() or None, most) for owner in owners])
        if dropped:
            DEAD_LETTERS_DROPPED.inc(dropped)
            log.error("dead_letters_dropped", count=dropped, kept_per_tenant=most)
        return dropped

    async def _drop_excess(self, tenant: str | None, most: int) -> int:
        with outages():
            count = int(await self._redis.zcard(keys.letters(tenant)))
            if not count:
                # Whoever adds a letter next puts the name back with it.
                await self._redis.srem(keys.LETTER_OWNERS, tenant or "")
        return await self.delete(tenant, await self._range(tenant, count - most - 1)) if count > most else 0

    async def _range(self, tenant: str | None, last: int) -> list[LetterId]:
        with outages():
            names = cast("list[bytes]", await self._redis.zrange(keys.letters(tenant), 0, last))
        return [LetterId.parse(name.decode()) for name in names]
