"""Redis clients with every timeout and retry stated, and the number of partitions pinned at their first use."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff, NoBackoff

from lithify.errors import Misconfigured
from lithify.streams import keys
from lithify.streams.outage import outages

CONNECT_TIMEOUT_S: Final = 5.0
# A reply later than this is taken for lost.
REPLY_TIMEOUT_S: Final = 5.0
# Three tries within a second; the accepting script makes repeating harmless.
PRODUCER_RETRIES: Final = 3
# How long a task may take to end before it is cancelled again.
AGAIN_S: Final = 0.5


def open_producer(url: str) -> Redis:
    """Opens a client for calls that may be repeated safely: the accepting script and reads."""
    return _open(url, REPLY_TIMEOUT_S, Retry(ExponentialBackoff(cap=0.5, base=0.05), PRODUCER_RETRIES))


def open_consumer(url: str, block_ms: int) -> Redis:
    """Opens a client for blocking reads: it waits longer than the block and never repeats by itself.

    A repeated XREADGROUP would deliver a second batch while the first one is pending and unseen.
    """
    return _open(url, block_ms / 1000 + REPLY_TIMEOUT_S, Retry(NoBackoff(), 0))


def _open(url: str, reply_timeout_s: float, retry: Retry) -> Redis:
    return Redis.from_url(url, socket_connect_timeout=CONNECT_TIMEOUT_S, socket_timeout=reply_timeout_s, retry=retry)


async def pin_partitions(redis: Redis, partitions: int) -> None:
    """Pins the number of partitions, once at start. Raises Misconfigured if this Redis was first used with another one.

    With another number sessions would move, and old streams would have no reader.
    """
    with outages():
        await redis.set(keys.PARTITIONS, partitions, nx=True)
        pinned = int(await redis.get(keys.PARTITIONS) or 0)
    if pinned != partitions:
        raise Misconfigured(
            f"setting LITHIFY_PARTITIONS cannot be {partitions}: this Redis holds data in {pinned} partitions. "
            f"Set it to {pinned}, or start with an empty Redis"
        )


async def end_tasks(tasks: "Iterable[asyncio.Task[Any]]") -> None:
    """Cancels tasks until they are done; their results and errors are left to whoever owns them.

    Once is not enough: on Python 3.11 `asyncio.wait_for`, through which redis-py sends, may swallow a cancellation.
    """
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=AGAIN_S)
