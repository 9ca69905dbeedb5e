"""Pins the number of partitions: with another number, sessions would move and old streams would have no reader."""

from redis.asyncio import Redis

from lithify.errors import Misconfigured
from lithify.streams import keys
from lithify.streams.outage import outages


async def pin_partitions(redis: Redis, partitions: int) -> None:
    """Called once at start. Raises Misconfigured if this Redis was first used with another number."""
    with outages():
        await redis.set(keys.PARTITIONS, partitions, nx=True)
        pinned = int(await redis.get(keys.PARTITIONS) or 0)
    if pinned != partitions:
        raise Misconfigured(
            f"setting LITHIFY_PARTITIONS cannot be {partitions}: this Redis holds data in {pinned} partitions. "
            f"Set it to {pinned}, or start with an empty Redis"
        )
