"""Announces that events are in the store, so that the gating workers may look at them."""

from collections.abc import Iterable
from typing import Any

from redis.asyncio import Redis

from lithify.streams import keys
from lithify.streams.delivery import Delivery
from lithify.streams.outage import outages


async def publish_stored(redis: Redis, deliveries: Iterable[Delivery]) -> None:
    """Pass the events on to `stored:{p}` of their partition. Repeating is harmless: effects are idempotent."""
    async with redis.pipeline(transaction=False) as pipe:
        for delivery in deliveries:
            entry = delivery.entry
            pipe.xadd(keys.stored(keys.partition_in(entry.stream)), dict[Any, Any](entry.fields))
        with outages():
            await pipe.execute()
