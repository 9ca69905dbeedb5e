"""Forgets how often memories were recalled."""

from collections.abc import Collection

from redis.asyncio import Redis

from lithify.events.scope import SHARED
from lithify.forgetter.sessions import SCAN
from lithify.streams import keys
from lithify.streams.outage import outages


async def drop_accesses(redis: Redis, tenant: str, user: str, ids: Collection[str] | None = None) -> None:
    """The counts of a user's memories, of all or of some; what is shared is counted with every user.

    Raises Unavailable if Redis did not answer.
    """
    with outages():
        if ids is None:
            await redis.delete(keys.access(tenant, user))
            return
        names = [keys.access(tenant, user).encode()]
        if user == SHARED:
            names += [name async for name in redis.scan_iter(keys.matching("access", tenant, None), count=SCAN)]
        for name in names:
            await redis.hdel(name.decode(), *ids)
