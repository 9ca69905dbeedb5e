"""Announces that events are in the store, so that the gating workers may look at them."""

from collections.abc import Iterable
from typing import Any

from redis.asyncio import Redis

from lithify.events import Event, encode_event
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


async def publish_again(redis: Redis, partitions: int, events: Iterable[Event]) -> None:
    """Pass on events that could not be looked at when they were first announced, for want of a vector."""
    async with redis.pipeline(transaction=False) as pipe:
        for event in events:
            partition = keys.partition_of(event.tenant, event.session, partitions)
            pipe.xadd(keys.stored(partition), {"event": encode_event(event)})
        with outages():
            await pipe.execute()
