"""Messages that were given up, and what an operator does with them: look at them, send them again, throw them away."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from typing import Final, Literal, cast

from redis.asyncio import Redis

from lithify.batching import batched
from lithify.events import AnyTenant, Clock, EveryTenant, TenantScope
from lithify.streams import keys, script
from lithify.streams.letter import Letter, LetterId, read_letter
from lithify.streams.letter_index import LetterIndex
from lithify.streams.outage import outages
from lithify.streams.progress import StreamId

# Letters read per call; each may carry a turn of the largest size.
PAGE: Final = 50

Outcome = Literal["redriven", "gone", "superseded"]
"""Gone: redriven or purged before, or not of this scope. Superseded: the event id was accepted anew since."""


class DeadLetters:
    """The dead letters of all partitions. Every call sees its scope's only, and raises Unavailable in an outage."""

    def __init__(self, redis: Redis, partitions: int, clock: Clock) -> None:
        self._redis = redis
        self._partitions = partitions
        self._clock = clock
        self._index = LetterIndex(redis, partitions)

    async def newest(self, scope: AnyTenant, limit: int, before: LetterId | None = None) -> list[Letter]:
        """Returns at most `limit` letters, the last buried first.

        `before`, the last one of a page, gives the next page.
        """
        found: list[Letter] = []
        if not isinstance(scope, EveryTenant):
            async for letter in self._scan_tenant(scope, before):
                found.append(letter)
                if len(found) == limit:
                    break
            return found
        for partition in range(self._partitions):
            found += [letter async for letter in self._scan(partition, _below(partition, before), limit)]
        return sorted(found, key=lambda letter: letter.id, reverse=True)[:limit]

    async def ids(self, scope: AnyTenant, buried_before_ms: int | None = None) -> list[LetterId]:
        """Returns all letters there are now, the first buried first.

        Redriving all does not go round with what dies again.
        """
        before = None if buried_before_ms is None else LetterId(StreamId(max(0, buried_before_ms), 0), 0)
        if not isinstance(scope, EveryTenant):
            return sorted([letter.id async for letter in self._scan_tenant(scope, before)])
        found: list[LetterId] = []
        for partition in range(self._partitions):
            found += [letter.id async for letter in self._scan(partition, _below(partition, before))]
        return sorted(found)

    async def find(self, scope: AnyTenant, letter_id: LetterId) -> Letter | None:
        if letter_id.partition >= self._partitions:
            return None
        at = str(letter_id.buried)
        page = await self._page(letter_id.partition, at, at)
        return next((letter for letter in page if letter.belongs_to(scope)), None)

    async def redrive(self, scope: AnyTenant, ids: Iterable[LetterId]) -> dict[LetterId, Outcome]:
        """Puts letters back onto their streams as new messages, with all their attempts before them.

        Each is one atomic step that may be repeated. An event whose effect is there already is harmless: effects are
        idempotent. The tail is left alone, the event is in it since it was accepted.
        """
        outcomes: dict[LetterId, Outcome] = {}
        for letter_id in dict.fromkeys(ids):
            letter = await self.find(scope, letter_id)
            outcomes[letter_id] = "gone" if letter is None else await self._redrive(letter)
            if letter is not None and outcomes[letter_id] != "superseded":
                await self._index.remove(letter.tenant, [letter_id])
        return outcomes

    async def purge(self, scope: AnyTenant, ids: Iterable[LetterId]) -> int:
        """Deletes letters for good and returns how many were there."""
        doomed: defaultdict[str | None, list[LetterId]] = defaultdict(list)
        for letter_id in ids:
            if letter := await self.find(scope, letter_id):
                doomed[letter.tenant].append(letter_id)
        return sum([await self._index.delete(tenant, found) for tenant, found in doomed.items()])

    async def _redrive(self, letter: Letter) -> Outcome:
        names = [keys.dead(letter.id.partition), letter.stream]
        if letter.event is not None:
            names.append(keys.receipt(letter.event.tenant, letter.event.event_id))
        # A receipt names the entry in `turns`; of a message on another stream, and never redriven, we do not know it.
        accepted_here = letter.stream.startswith(keys.TURNS)
        expected = letter.first_id if accepted_here else ""
        args: list[str | bytes | int] = [str(letter.id.buried), letter.first_id, expected, self._clock()]
        with outages():
            reply: bytes = await script.load("redrive").run(self._redis, names, args)
        return cast("Outcome", reply.decode())

    async def _scan_tenant(self, scope: TenantScope, before: LetterId | None) -> AsyncIterator[Letter]:
        """Yields a tenant's letters, the last buried first, without a look at those of others."""
        await self._index.catch_up()
        named = sorted(await self._index.read(scope.tenant), reverse=True)
        for ids in batched([one for one in named if before is None or one < before], PAGE):
            found = await self._fetch(ids)
            if gone := set(ids) - found.keys():
                await self._index.remove(scope.tenant, gone)
            for letter in found.values():
                if letter.belongs_to(scope):
                    yield letter

    async def _fetch(self, ids: Iterable[LetterId]) -> dict[LetterId, Letter]:
        """Reads letters by their ids, in this order; those that are gone are left out."""
        wanted = list(ids)
        async with self._redis.pipeline(transaction=False) as pipe:
            for letter_id in wanted:
                at = str(letter_id.buried)
                pipe.xrange(keys.dead(letter_id.partition), at, at)
            with outages():
                replies = cast("list[list[tuple[bytes, dict[bytes, bytes]]]]", await pipe.execute())
        pairs = zip(wanted, replies, strict=True)
        return {one: read_letter(one, fields) for one, entries in pairs for _, fields in entries}

    async def _scan(self, partition: int, below: str, limit: int | None = None) -> AsyncIterator[Letter]:
        """Yields letters of one partition, the last buried first, page by page."""
        yielded = 0
        while page := await self._page(partition, below, "-"):
            for letter in page:
                if yielded == limit:
                    return
                yielded += 1
                yield letter
            below = f"({page[-1].id.buried}"

    async def _page(self, partition: int, highest: str, lowest: str) -> list[Letter]:
        with outages():
            reply = await self._redis.xrevrange(keys.dead(partition), highest, lowest, PAGE)
        entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", reply)
        return [read_letter(LetterId(StreamId.parse(entry), partition), fields) for entry, fields in entries]


def _below(partition: int, before: LetterId | None) -> str:
    """Returns the highest id a partition may contribute to a page that ends above `before`."""
    if before is None:
        return "+"
    if before.buried == StreamId(0, 0):
        return "0-0"  # nothing can lie here, and Redis refuses to look below it
    # Letters of the same moment are ordered by partition, so lower partitions still have theirs to give.
    return str(before.buried) if partition < before.partition else f"({before.buried}"
