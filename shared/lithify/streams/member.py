"""A named member of a consumer group: what can be asked of Redis, without any policy about when."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from lithify.errors import Invalid
from lithify.streams import keys, script
from lithify.streams.delivery import FIRST_ID, StreamEntry, decode

# Pending ids looked at per call; ids only, so a page is small.
PAGE: Final = 100


class EntryLost(Exception):
    """A pending entry was deleted before it was acknowledged."""


class Member:
    """One consumer slot. Its name is stable across restarts, so that it finds its own pending entries again."""

    def __init__(self, redis: Redis, streams: Sequence[str], group: str, name: str) -> None:
        self._redis = redis
        self.name = name
        self.streams = tuple(streams)
        self.group = group

    async def join(self) -> None:
        """Creates the group on every stream from its first entry on; a group that exists is left as it is."""
        for stream in self.streams:
            try:
                await self._redis.xgroup_create(stream, self.group, id="0", mkstream=True)
            except ResponseError as error:
                if "BUSYGROUP" not in str(error):
                    raise

    async def read(self, count: int, block_ms: int, bulk: int | None = None) -> list[StreamEntry]:
        """Reads entries never delivered before, waiting up to block_ms for the first.

        Returns at most `count`, and of bulk streams at most `bulk` beside them, or one per stream. So neither kind
        has to wait until the other one is empty.
        """
        lanes = Counter({False: count, True: count if bulk is None else bulk})
        widths = Counter(map(keys.is_bulk, self.streams))
        # COUNT holds per stream. Each gets its share; streams that used theirs up may then fill what others of their
        # lane left free.
        share = max(1, min(lanes[lane] // width for lane, width in widths.items()))
        entries = await self._read(self.streams, share, block_ms)
        for stream in dict.fromkeys(entry.stream for entry in entries):
            lane = keys.is_bulk(stream)
            free = lanes[lane] - sum(keys.is_bulk(entry.stream) == lane for entry in entries)
            if free > 0 and sum(entry.stream == stream for entry in entries) == share:
                entries += await self._read((stream,), free, None)
        return entries

    async def _read(self, streams: Iterable[str], count: int, block_ms: int | None) -> list[StreamEntry]:
        wanted: dict[Any, Any] = dict.fromkeys(streams, ">")
        replies = await self._redis.xreadgroup(self.group, self.name, wanted, count=count, block=block_ms)
        return [
            StreamEntry(stream, stream_id.decode(), fields, 1)
            for key, entries in cast("Iterable[tuple[bytes, Any]]", replies)
            for stream in (key.decode(),)
            for stream_id, fields in entries
        ]

    async def own(self, stream: str) -> list[str]:
        """Returns ids delivered to this name and never acknowledged, oldest first."""
        return await self._pending(stream, {"consumername": self.name})

    async def stale(self, stream: str, lease_ms: int) -> list[str]:
        """Returns ids whose lease has run out, whoever held them, oldest first."""
        return await self._pending(stream, {"idle": lease_ms})

    async def _pending(self, stream: str, only: Mapping[str, Any]) -> list[str]:
        found: list[str] = []
        start = "-"
        while True:
            page = await self._redis.xpending_range(stream, self.group, start, "+", PAGE, **only)
            found += [cast("bytes", item["message_id"]).decode() for item in page]
            if len(page) < PAGE:
                return found
            start = f"({found[-1]}"

    async def claim(self, stream: str, stream_id: str, lease_ms: int) -> StreamEntry | None:
        """Delivers a pending entry again, counting the attempt; None if someone else holds or finished it.

        Raises EntryLost if it was deleted while pending.
        """
        args = (self.group, self.name, lease_ms, stream_id)
        reply = await script.load("claim").run(self._redis, [stream], args)
        if reply is None:
            return None
        if reply[0] == 0:
            raise EntryLost(f"{stream} {stream_id} was deleted while pending for group {self.group}")
        attempt, flat = reply
        return StreamEntry(stream, stream_id, dict(zip(flat[::2], flat[1::2], strict=True)), attempt)

    async def renew(self, stream: str, stream_ids: Sequence[str]) -> None:
        """Starts the leases anew; JUSTID leaves the attempts as they are."""
        await self._redis.xclaim(stream, self.group, self.name, 0, list(stream_ids), justid=True)

    async def release(self, entry: StreamEntry, lease_ms: int) -> None:
        """Gives an untouched entry back: free for anyone at once, and as if this delivery had not happened."""
        await self._redis.xclaim(
            entry.stream,
            self.group,
            self.name,
            0,
            [entry.stream_id],
            idle=lease_ms,
            retrycount=entry.attempt - 1,
            justid=True,
        )

    async def acknowledge(self, stream: str, stream_ids: Sequence[str]) -> None:
        await self._redis.xack(stream, self.group, *stream_ids)

    async def bury(self, entry: StreamEntry, reason: str, now_ms: int) -> None:
        """Moves an entry to the dead letters of its partition, unless it is not pending any more."""
        names = [entry.stream, keys.dead(keys.partition_in(entry.stream)), *_receipt(entry)]
        letter = _letter(entry, self.group, reason, now_ms)
        args = [self.group, entry.stream_id, reason, *(part for pair in letter.items() for part in pair)]
        await script.load("bury").run(self._redis, names, args)


def _receipt(entry: StreamEntry) -> list[str]:
    try:
        event = decode(entry).event
    except Invalid:
        return []
    return [keys.receipt(event.tenant, event.event_id)]


def _letter(entry: StreamEntry, group: str, reason: str, now_ms: int) -> dict[Any, bytes | str | int]:
    first_id = entry.fields.get(FIRST_ID, entry.stream_id.encode())
    return {
        **entry.fields,
        "dead_stream": entry.stream,
        "dead_group": group,
        "dead_id": entry.stream_id,
        "dead_reason": reason,
        "dead_attempts": entry.attempt,
        "dead_first_seen": first_id.split(b"-")[0],
        "dead_last_seen": now_ms,
    }
