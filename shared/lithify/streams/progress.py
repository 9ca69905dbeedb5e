"""How far each consumer group has come on a stream; what trimming and lag are computed from."""

from dataclasses import dataclass
from typing import NamedTuple, Self

from redis.asyncio import Redis
from redis.exceptions import ResponseError


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
    """Progress of each group by name; empty if there is no such stream."""
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
