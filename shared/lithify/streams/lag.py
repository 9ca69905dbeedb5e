"""How far behind each group is, counted by us: Redis's own `lag` turns null after deletions or hides a loss."""

from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis

from lithify.streams import script
from lithify.streams.outage import outages
from lithify.streams.progress import GroupProgress, StreamId, read_progress

# Entries counted per script call; keeps a single call at about a millisecond.
PAGE: Final = 1_000


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
    """The lag of every group of a stream, by name. Ages use Redis's clock, which also made the ids."""
    with outages():
        progress = await read_progress(redis, stream)
        seconds, micros = await redis.time()
        now_ms = seconds * 1000 + micros // 1000
        return [await _lag(redis, stream, group, state, now_ms) for group, state in sorted(progress.items())]


async def _lag(redis: Redis, stream: str, group: str, progress: GroupProgress, now_ms: int) -> Lag:
    unread, oldest = await count_unread(redis, stream, progress.last_delivered)
    return Lag(stream, group, unread, progress.pending, _age(oldest, now_ms), _age(progress.lowest_pending, now_ms))


async def count_unread(
    redis: Redis, stream: str, read_up_to: StreamId, most: int | None = None
) -> tuple[int, StreamId | None]:
    """Number of entries behind an id and the first of them; costs in proportion to the number, page by page.

    With `most`, counting ends at the first page that reaches it.
    """
    total, oldest, behind = 0, None, str(read_up_to)
    while True:
        count, first, last = await script.load("count").run(redis, [stream], [behind, PAGE])
        total += int(count)
        oldest = oldest or (StreamId.parse(first) if count else None)
        if count < PAGE or (most is not None and total >= most):
            return total, oldest
        behind = last.decode()


def _age(stream_id: StreamId | None, now_ms: int) -> int:
    return 0 if stream_id is None else max(0, now_ms - stream_id.ms)
