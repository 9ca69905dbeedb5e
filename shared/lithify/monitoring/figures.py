"""Reads from Redis how the pipeline is: the figures of every page and of the JSON routes beside them."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from lithify.events import Clock
from lithify.jobs import QueueState, read_queues
from lithify.streams import Heartbeat, Lag, keys, read_lag, read_workers
from lithify.streams.outage import outages
from lithify.streams.progress import StreamId


@dataclass(frozen=True, slots=True)
class ConsumerState:
    """A reader of a group, as Redis knows it: it stays listed for a while after its process has gone."""

    name: str
    pending: int
    idle_ms: int


@dataclass(frozen=True, slots=True)
class GroupState:
    """Ages are those of the oldest message concerned, 0 if there is none."""

    group: str
    oldest_unread_ms: int
    oldest_pending_ms: int
    unread: int
    pending: int
    consumers: tuple[ConsumerState, ...]


@dataclass(frozen=True, slots=True)
class StreamState:
    """`added` counts entries since the stream began; None where the server does not tell (before Redis 7)."""

    stream: str
    length: int
    added: int | None
    groups: tuple[GroupState, ...]


@dataclass(frozen=True, slots=True)
class DeadState:
    """`oldest_ms` is the time since the first letter was buried; None if there is none."""

    oldest_ms: int | None
    count: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything at one moment; `took_s` is what reading it cost."""

    at: int
    took_s: float
    streams: tuple[StreamState, ...]
    dead: DeadState
    workers: tuple[Heartbeat, ...]
    queues: tuple[QueueState, ...]


@dataclass(frozen=True, slots=True)
class Gauges:
    """`jobs` is a blocking connection, as RQ needs it (`lithify.jobs.open_connection`)."""

    redis: Redis
    jobs: BlockingRedis
    partitions: int
    clock: Clock

    async def read(self) -> Figures:
        """Raises Unavailable if Redis did not answer."""
        begun = time.monotonic()
        streams = await self.streams()
        dead = await self.dead()
        workers, queues = await read_workers(self.redis), await read_queues(self.jobs, self.clock)
        return Figures(self.clock(), time.monotonic() - begun, tuple(streams), dead, tuple(workers), tuple(queues))

    async def streams(self) -> list[StreamState]:
        names = [key(partition) for key in (keys.turns, keys.stored) for partition in range(self.partitions)]
        return [state for name in names if (state := await self._stream(name)) is not None]

    async def dead(self) -> DeadState:
        count, oldest = 0, None
        for partition in range(self.partitions):
            with outages():
                count += int(await self.redis.xlen(keys.dead(partition)))
                first = cast("list[tuple[bytes, Any]]", await self.redis.xrange(keys.dead(partition), count=1))
            if first:
                buried = StreamId.parse(first[0][0]).ms
                oldest = buried if oldest is None else min(oldest, buried)
        return DeadState(None if oldest is None else max(0, self.clock() - oldest), count)

    async def _stream(self, name: str) -> StreamState | None:
        """None until the first event has made the stream."""
        with outages():
            try:
                told: Mapping[str, Any] = await self.redis.xinfo_stream(name)
            except ResponseError as error:
                if "no such key" in str(error):
                    return None
                raise
        groups = [await self._group(lag) for lag in await read_lag(self.redis, name)]
        added = told.get("entries-added")
        return StreamState(name, int(told["length"]), None if added is None else int(added), tuple(groups))

    async def _group(self, lag: Lag) -> GroupState:
        with outages():
            told = cast("list[Mapping[str, Any]]", await self.redis.xinfo_consumers(lag.stream, lag.group))
        consumers = [ConsumerState(row["name"].decode(), int(row["pending"]), int(row["idle"])) for row in told]
        return GroupState(
            lag.group, lag.oldest_unread_ms, lag.oldest_pending_ms, lag.unread, lag.pending, tuple(consumers)
        )
