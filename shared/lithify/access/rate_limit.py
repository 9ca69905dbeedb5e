"""Bounds how many requests a second one API key may make, counted in Redis over all processes."""

import math
from typing import Final

import structlog
from redis.asyncio import Redis

from lithify.errors import Overloaded, Unavailable
from lithify.streams import keys, script
from lithify.streams.outage import outages

MICROSECONDS: Final = 1_000_000

log = structlog.get_logger(__name__)


class RateLimit:
    """The limit of each key: a second's worth of requests may come at once; 0 per second sets no limit."""

    def __init__(self, redis: Redis, per_second: int) -> None:
        self._redis = redis
        self._per_second = per_second

    async def spend(self, key_id: str) -> None:
        """Counts one request. Raises Overloaded, with the time to wait, if it is one too many.

        In an outage of Redis nothing is counted: the limit guards against floods, and there is nothing left to flood.
        """
        if not self._per_second:
            return
        try:
            with outages():
                wait_us: int = await script.load("rate").run(self._redis, [keys.rate(key_id)], [self._per_second])
        except Unavailable as error:
            log.warning("rate_not_counted", key_id=key_id, reason=str(error))
            return
        if wait_us:
            raise Overloaded(
                f"key {key_id} may make {self._per_second} requests per second", math.ceil(wait_us / MICROSECONDS)
            )
