"""Opens the blocking Redis client RQ needs, with every timeout and retry stated, and uses it from asyncio."""

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar, cast

from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.client import Pipeline
from redis.retry import Retry

from lithify.streams.connection import CONNECT_TIMEOUT_S, PRODUCER_RETRIES
from lithify.streams.outage import outages

P = ParamSpec("P")
T = TypeVar("T")

# The longest a runner may wait for the next job in one command.
BLOCK_S: Final = 5
# A reply later than that is taken for lost. RQ's worker class would raise anything below 11 s to 11 s by itself.
REPLY_TIMEOUT_S: Final = 11


def open_connection(url: str) -> Redis:
    """Opens a client that repeats lost commands.

    Repeating is safe: a job has one id however often it is sent, and one popped unseen is put back by upkeep.
    """
    return Redis.from_url(
        url,
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        socket_timeout=REPLY_TIMEOUT_S,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), PRODUCER_RETRIES),
    )


def transact(connection: Redis, key: str, step: Callable[[Pipeline], T]) -> T:
    """Runs a step that reads, calls `multi()` and writes; it starts anew whenever the key changes in between."""
    result = connection.transaction(step, key, value_from_callable=True)  # type: ignore[arg-type]  # may return a value
    return cast("T", result)


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls Redis without holding up the loop. Raises Unavailable if it cannot serve."""
    with outages():
        return await asyncio.to_thread(function, *args, **kwargs)
