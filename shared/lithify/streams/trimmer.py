"""Shortens the streams by what every group has finished, and never by length or age: those lose unread messages."""

from collections.abc import Collection, Mapping

from redis.asyncio import Redis

from lithify.streams import script
from lithify.streams.outage import outages
from lithify.streams.progress import GroupProgress, StreamId, read_progress


def plan_trim(groups: Mapping[str, GroupProgress], required: Collection[str]) -> StreamId | None:
    """The id below which entries may go: the lowest floor. None while a required group does not exist yet."""
    if not groups or not set(required) <= groups.keys():
        return None
    return min(progress.floor for progress in groups.values())


async def trim(redis: Redis, stream: str, required: Collection[str]) -> int:
    """Remove what all groups have finished and return how many entries went; whole nodes only, which is cheap."""
    with outages():
        floor = plan_trim(await read_progress(redis, stream), required)
        return 0 if floor is None else int(await redis.xtrim(stream, minid=str(floor), approximate=True))


async def dismiss_idle(redis: Redis, stream: str, group: str, idle_ms: int) -> list[str]:
    """Remove consumers that were not heard of for idle_ms and hold nothing; returns their names.

    A plain DELCONSUMER would silently drop the pending entries of a consumer that holds some.
    """
    with outages():
        idle = [c["name"].decode() for c in await redis.xinfo_consumers(stream, group) if c["idle"] >= idle_ms]
        return [name for name in idle if await script.load("dismiss").run(redis, [stream], [group, name])]
