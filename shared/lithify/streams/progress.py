"""How far each consumer group has come on a stream, and how much it still has before it; what trimming relies on."""

from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from lithify.streams import script
from lithify.streams.outage import outages

# Entries counted per script call; keeps a single call at about a millisecond.
PAGE: Final = 1_000


class StreamId(NamedTuple):
    """A stream id, ordered as Redis orders it."""

    ms: int
    number: int

    @classmethod
    def parse(cls, value: bytes | str) -> Self:
        ms, _, number = (value if isinstance(value, str) else value.decode()).partition("-")
        return cls(int(ms), int(number or 0))

    def __str__(self) -> str:
        return f"{self.ms}-{self.number}"


@dataclass(frozen=True, slots=True)
class GroupProgress:
    last_delivered: StreamId
    pending: int = 0
    lowest_pending: StreamId | None = None

    @property
    def floor(self) -> StreamId:
        """Below this id the group needs nothing any more."""
        return self.lowest_pending or self.last_delivered


async def read_progress(redis: Redis, stream: str) -> dict[str, GroupProgress]:
    """Reads the progress of each group by name; empty if there is no such stream."""
    try:
        groups = await redis.xinfo_groups(stream)
    except ResponseError as error:
        if "no such key" in str(error):
            return {}
        raise
    # The positions are read before the pending entries. In the other order, entries delivered in between would lie
    # below the position without being known as pending, and be trimmed.
    return {
        group["name"].decode(): await _progress(
            redis, stream, group["name"], StreamId.parse(group["last-delivered-id"])
        )
        for group in groups
    }


async def _progress(redis: Redis, stream: str, group: bytes, last_delivered: StreamId) -> GroupProgress:
    summary = await redis.xpending(stream, group)
    lowest = StreamId.parse(summary["min"]) if summary["pending"] else None
    return GroupProgress(last_delivered, summary["pending"], lowest)


@dataclass(frozen=True, slots=True)
class Lag:
    """State of one group on one stream; ages are those of the oldest message concerned, 0 if there is none."""

    stream: str
    group: str
    unread: int
    pending: int
    oldest_unread_ms: int
    oldest_pending_ms: int


async def read_lag(redis: Redis, stream: str) -> list[Lag]:
    """Reads the lag of every group of a stream, by name, counted by us: Redis's own turns null or hides a loss.

    Ages use Redis's clock, which also made the ids.
    """
    with outages():
        progress = await read_progress(redis, stream)
        seconds, micros = await redis.time()
        now_ms = seconds * 1000 + micros // 1000
        groups = sorted(progress.items())
        return [await _lag(redis, stream, group, progress=state, now_ms=now_ms) for group, state in groups]


async def _lag(redis: Redis, stream: str, group: str, progress: GroupProgress, now_ms: int) -> Lag:
    unread, oldest = await count_unread(redis, stream, progress.last_delivered)
    return Lag(
        stream=stream,
        group=group,
        unread=unread,
        pending=progress.pending,
        oldest_unread_ms=_age(oldest, now_ms),
        oldest_pending_ms=_age(progress.lowest_pending, now_ms),
    )


async def count_unread(
    redis: Redis, stream: str, read_up_to: StreamId, most: int | None = None
) -> tuple[int, StreamId | None]:
    """Counts the entries behind an id and names the first of them; costs in proportion to the number, page by page.

    With `most`, counting ends at the first page that reaches it.
    """
    total = 0
    oldest: StreamId | None = None
    behind = str(read_up_to)
    while True:
        count, first, last = await script.load("count").run(redis, [stream], [behind, PAGE])
        total += int(count)
        oldest = oldest or (StreamId.parse(first) if count else None)
        if count < PAGE or (most is not None and total >= most):
            return total, oldest
        behind = last.decode()


def _age(stream_id: StreamId | None, now_ms: int) -> int:
    return 0 if stream_id is None else max(0, now_ms - stream_id.ms)
