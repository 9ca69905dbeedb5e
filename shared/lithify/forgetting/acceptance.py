"""Tells what was accepted before a forgetting was asked for from what came after it and has to live."""

from collections.abc import Iterable

from redis.asyncio import Redis

from lithify.streams import keys
from lithify.streams.outage import outages
from lithify.streams.progress import StreamId


async def accepted_later(redis: Redis, tenant: str, event_ids: Iterable[str], before_ms: int) -> set[str]:
    """Those of the events that were accepted after that moment, by Redis's own clock.

    Only receipts know it: stored records carry the host's time, and entries of `stored` ids of their own. An event
    without a receipt is an old one, or one whose receipt was forgotten already: receipts are kept for a day at least,
    which is longer than a forgetting may take. Raises Unavailable if Redis did not answer.
    """
    names = list(dict.fromkeys(event_ids))
    async with redis.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.hget(keys.receipt(tenant, name), "stream_id")
        with outages():
            replies: list[bytes | None] = await pipe.execute()
    return {name for name, reply in zip(names, replies, strict=True) if reply and StreamId.parse(reply).ms > before_ms}
