"""What Redis knows of sessions: their newest turns, positions, state of compaction and last activity."""

from collections.abc import AsyncIterator, Awaitable, Callable
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
    redis: Redis
    partitions: int
    name: str = "tails"

    async def clear(self, case: ForgettingRun) -> int:
        removed = 0
        async for key in self._keys(case, "tail"):
            removed += await self._clear_tail(case, key)
        async for key in self._whole(case):
            await self._untail(case, key, [])
            with outages():
                await self.redis.delete(self._named(keys.session_state, key))
        for name in self._activities():
            if gone := await self._active(case, name):
                with outages():
                    await self.redis.zrem(name, *(key.name for key in gone))
        return removed

    async def left(self, case: ForgettingRun) -> int:
        """A session that has turns from after the request may have a state and activity again."""
        turns = sum([len(await self._doomed(case, key)) async for key in self._keys(case, "tail")])
        about = [key async for key in self._whole(case)]
        about += [key for name in self._activities() for key in await self._active(case, name)]
        return turns + sum([not await self._has_tail(key) for key in about])

    async def _clear_tail(self, case: ForgettingRun, key: SessionKey) -> int:
        found = await self._doomed(case, key)
        if found:
            await case.drop_receipts({entry.event.event_id for entry in found})
            await self._untail(case, key, [entry.raw for entry in found])
        return len(found)

    async def _doomed(self, case: ForgettingRun, key: SessionKey) -> list[TailEntry]:
        with outages():
            reply = self.redis.lrange(self._named(keys.tail, key), 0, -1)
            entries = [*map(read_entry, await cast("Awaitable[list[bytes]]", reply))]
        readable = [entry for entry in entries if entry and case.target.covers(entry.event)]
        doomed = await case.doomed_events([entry.event for entry in readable])
        return [entry for entry in readable if entry.event.event_id in doomed]

    async def _untail(self, case: ForgettingRun, key: SessionKey, entries: list[bytes]) -> None:
        names = [self._named(keys.tail, key), self._named(keys.session_seq, key)]
        with outages():
            await script.load("untail").run(case.redis, names, entries)

    async def _has_tail(self, key: SessionKey) -> bool:
        with outages():
            return bool(await self.redis.exists(self._named(keys.tail, key)))

    async def _active(self, case: ForgettingRun, name: str) -> list[SessionKey]:
        """Sessions that go as a whole, among those whose silence somebody looks for."""
        with outages():
            named = [SessionKey.parse(member) async for member, _ in self.redis.zscan_iter(name)]
        return [key for key in named if key.tenant == case.target.tenant and case.target.owns(key.user, key.session)]

    def _activities(self) -> list[str]:
        return [keys.activity(partition) for partition in range(self.partitions)]

    async def _whole(self, case: ForgettingRun) -> AsyncIterator[SessionKey]:
        """Sessions that go as a whole and have a counter or a state; their tail may have expired."""
        if case.target.is_whole_session:
            for kind in ("session", "state"):
                async for key in self._keys(case, kind):
                    yield key

    async def _keys(self, case: ForgettingRun, kind: str) -> AsyncIterator[SessionKey]:
        """The tenant's sessions that may be meant, as far as they have such a key."""
        target = case.target
        session = target.name if target.is_whole_session and target.name else None
        pattern = keys.matching(kind, None, target.tenant, target.user, session)
        with outages():
            async for key in self.redis.scan_iter(pattern, count=SCAN):
                yield SessionKey(*keys.parts_of(key)[1:])

    def _named(self, make: Callable[[int, str, str, str], str], key: SessionKey) -> str:
        return make(keys.partition_of(key.tenant, key.session, self.partitions), key.tenant, key.user, key.session)


def read_entry(raw: bytes) -> TailEntry | None:
    seq, _, envelope = raw.partition(b" ")
    try:
        return TailEntry(raw, decode_event(envelope, int(seq)))
    except (Invalid, ValueError):
        return None
