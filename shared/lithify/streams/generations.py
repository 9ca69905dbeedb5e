"""Counters that say whether something changed since it was last read, so that caches need no messages."""

from collections.abc import Awaitable, Sequence
from typing import Final, cast

from redis.asyncio import Redis

from lithify.streams import keys
from lithify.streams.outage import outages

AUTHORED: Final = "authored"
"""The subject of all authored documents of a tenant."""

# Longer than any process keeps a copy: a counter that expires and starts again must not meet its old value.
KEPT_S: Final = 400 * 86_400


def durable_subject(user: str) -> str:
    """Names the subject of a user's durable memory; SHARED names what belongs to all users."""
    return f"durable:{user}"


async def bump(redis: Redis, tenant: str, subject: str) -> int:
    """Moves the generation on, after every write of the subject, and returns it; copies read before it are stale.

    Raises Unavailable if Redis did not answer.
    """
    key = keys.generation(tenant, subject)
    async with redis.pipeline(transaction=True) as pipe:
        pipe.incr(key)
        pipe.expire(key, KEPT_S)
        with outages():
            moved: int = (await pipe.execute())[0]
    return moved


async def read_generations(redis: Redis, tenant: str, subjects: Sequence[str]) -> tuple[int, ...]:
    """Reads the generations of the subjects in one round trip; 0 for one that was never written.

    Raises Unavailable if Redis did not answer.
    """
    if not subjects:
        return ()
    with outages():
        reply = redis.mget([keys.generation(tenant, subject) for subject in subjects])
        values = await cast("Awaitable[list[bytes | None]]", reply)
    return tuple(int(value or 0) for value in values)
