"""What Redis knows of sessions: their newest turns, positions, state of compaction and last activity."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from redis.asyncio import Redis

from lithify.compaction import SessionKey
from lithify.errors import Invalid
from lithify.events import Event, decode_event
from lithify.forgetter.place import ForgettingRun
from lithify.streams import keys, script
from lithify.streams.outage import outages

# Keys looked at per call of a scan; a million keys take a second.
SCAN: Final = 1_000


class TailEntry(NamedTuple):
    raw: bytes
    event: Event


@dataclass(frozen=True, slots=True)
class Sessions:
    """Clears the newest turns, positions, states of compaction and last activity of sessions."""

    redis: Redis
    partitions: int
    name: str = "tails"

    async def clear(self, run: ForgettingRun) -> int:
        removed = 0
        async for key in self._keys(run, "tail"):
            removed += await self._clear_tail(run, key)
        async for key in self._whole_sessions(run):
            await self._untail(run, key, [])
            with outages():
                await self.redis.delete(self._key_of(keys.session_state, key))
        for name in self._activity_keys():
            if gone := await self._find_active(run, name):
                with outages():
                    await self.redis.zrem(name, *(key.name for key in gone))
        return removed

    async def count_left(self, run: ForgettingRun) -> int:
        """Counts turns, and what is kept about sessions that have none.

        A session that has turns from after the request may have a state and activity again.
        """
        turns = sum([len(await self._find_doomed(run, key)) async for key in self._keys(run, "tail")])
        about = [key async for key in self._whole_sessions(run)]
        about += [key for name in self._activity_keys() for key in await self._find_active(run, name)]
        return turns + sum([not await self._has_tail(key) for key in about])

    async def _clear_tail(self, run: ForgettingRun, key: SessionKey) -> int:
        found = await self._find_doomed(run, key)
        if found:
            await run.drop_receipts({entry.event.event_id for entry in found})
            await self._untail(run, key, [entry.raw for entry in found])
        return len(found)

    async def _find_doomed(self, run: ForgettingRun, key: SessionKey) -> list[TailEntry]:
        with outages():
            reply = self.redis.lrange(self._key_of(keys.tail, key), 0, -1)
            entries = [*map(read_entry, await cast("Awaitable[list[bytes]]", reply))]
        meant = [entry for entry in entries if entry and run.target.covers(entry.event)]
        later = await run.read_later(entry.event.event_id for entry in meant)
        return select_doomed(meant, {name: last.seq for name, last in later.items()})

    async def _untail(self, run: ForgettingRun, key: SessionKey, entries: list[bytes]) -> None:
        names = [self._key_of(keys.tail, key), self._key_of(keys.session_seq, key)]
        with outages():
            await script.load("untail").run(run.redis, names, entries)

    async def _has_tail(self, key: SessionKey) -> bool:
        with outages():
            return bool(await self.redis.exists(self._key_of(keys.tail, key)))

    async def _find_active(self, run: ForgettingRun, name: str) -> list[SessionKey]:
        """Returns the sessions that go as a whole, among those whose silence somebody looks for."""
        with outages():
            found = [SessionKey.parse(member) async for member, _ in self.redis.zscan_iter(name)]
        return [key for key in found if key.tenant == run.target.tenant and run.target.owns(key.user, key.session)]

    def _activity_keys(self) -> list[str]:
        return [keys.activity(partition) for partition in range(self.partitions)]

    async def _whole_sessions(self, run: ForgettingRun) -> AsyncIterator[SessionKey]:
        """Yields the sessions that go as a whole and have a counter or a state; their tail may have expired."""
        if run.target.is_whole_session:
            for kind in ("session", "state"):
                async for key in self._keys(run, kind):
                    yield key

    async def _keys(self, run: ForgettingRun, kind: str) -> AsyncIterator[SessionKey]:
        """Yields the tenant's sessions that may be meant, as far as they have such a key."""
        target = run.target
        session = target.name if target.is_whole_session and target.name else None
        pattern = keys.matching(kind, None, target.tenant, target.user, session)
        with outages():
            async for key in self.redis.scan_iter(pattern, count=SCAN):
                yield SessionKey(*keys.parts_of(key)[1:])

    def _key_of(self, make: Callable[[int, str, str, str], str], key: SessionKey) -> str:
        return make(keys.partition_of(key.tenant, key.session, self.partitions), key.tenant, key.user, key.session)


def select_doomed(entries: Sequence[TailEntry], later: Mapping[str, int]) -> list[TailEntry]:
    """Returns what goes of a tail: all but the last entry of each event that was accepted `later`, at that position.

    The same event may stand there twice, as it was before and as it was sent again. Two entries that are the same byte
    for byte stay both: the later one says all the earlier one did.
    """
    last = {entry.event.event_id: entry for entry in entries if later.get(entry.event.event_id) == entry.event.seq}
    kept = {entry.raw for entry in last.values()}
    return [entry for entry in entries if entry.raw not in kept]


def read_entry(raw: bytes) -> TailEntry | None:
    seq, _, envelope = raw.partition(b" ")
    try:
        return TailEntry(raw, decode_event(envelope, int(seq)))
    except (Invalid, ValueError):
        return None
