"""Reads from Redis how the pipeline is: one reader for metrics, status, routes and pages."""

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
class DeadLetterState:
    """`oldest_ms` is the time since the first letter was buried; None if there is none."""

    oldest_ms: int | None
    count: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Says how everything is at one moment; `took_s` is what reading it cost."""

    at: int
    took_s: float
    streams: tuple[StreamState, ...]
    dead: DeadLetterState
    workers: tuple[Heartbeat, ...]
    queues: tuple[QueueState, ...]


@dataclass(frozen=True, slots=True)
class PipelineReader:
    """Reads streams, dead letters, workers and queues: the only place that asks Redis how the pipeline is.

    `jobs` is a blocking connection, as RQ needs it. Every call raises Unavailable if Redis did not answer.
    """

    redis: Redis
    jobs: BlockingRedis
    partitions: int
    clock: Clock

    async def read(self) -> Figures:
        """Reads everything, one after the other; Redis is asked a few times for every stream."""
        begun = time.monotonic()
        streams = await self.streams()
        dead = await self.dead_letters()
        workers = await self.workers()
        queues = await self.queues()
        return Figures(
            at=self.clock(),
            took_s=time.monotonic() - begun,
            streams=tuple(streams),
            dead=dead,
            workers=tuple(workers),
            queues=tuple(queues),
        )

    async def lags(self) -> list[Lag]:
        """Returns how far every group of every stream is behind."""
        return [lag for stream in self._stream_names() for lag in await read_lag(self.redis, stream)]

    async def streams(self) -> list[StreamState]:
        """Returns every stream that has been written to, with its groups and their consumers."""
        return [state for name in self._stream_names() if (state := await self._stream(name)) is not None]

    async def dead_letters(self) -> DeadLetterState:
        """Counts the dead letters of all partitions."""
        count, oldest = 0, None
        for partition in range(self.partitions):
            with outages():
                count += int(await self.redis.xlen(keys.dead(partition)))
                first = cast("list[tuple[bytes, Any]]", await self.redis.xrange(keys.dead(partition), count=1))
            if first:
                buried = StreamId.parse(first[0][0]).ms
                oldest = buried if oldest is None else min(oldest, buried)
        return DeadLetterState(None if oldest is None else max(0, self.clock() - oldest), count)

    async def workers(self) -> list[Heartbeat]:
        """Returns every worker that was heard of lately."""
        return await read_workers(self.redis)

    async def queues(self) -> list[QueueState]:
        """Returns every queue of background jobs with its counts."""
        return await read_queues(self.jobs, self.clock)

    def _stream_names(self) -> list[str]:
        return [*keys.turn_streams(self.partitions), *map(keys.stored, range(self.partitions))]

    async def _stream(self, name: str) -> StreamState | None:
        """Returns None until the first event has made the stream."""
        with outages():
            try:
                info: Mapping[str, Any] = await self.redis.xinfo_stream(name)
            except ResponseError as error:
                if "no such key" in str(error):
                    return None
                raise
        groups = [await self._group(lag) for lag in await read_lag(self.redis, name)]
        added = info.get("entries-added")
        return StreamState(name, int(info["length"]), None if added is None else int(added), tuple(groups))

    async def _group(self, lag: Lag) -> GroupState:
        with outages():
            rows = cast("list[Mapping[str, Any]]", await self.redis.xinfo_consumers(lag.stream, lag.group))
        consumers = [ConsumerState(row["name"].decode(), int(row["pending"]), int(row["idle"])) for row in rows]
        return GroupState(
            group=lag.group,
            oldest_unread_ms=lag.oldest_unread_ms,
            oldest_pending_ms=lag.oldest_pending_ms,
            unread=lag.unread,
            pending=lag.pending,
            consumers=tuple(consumers),
        )
