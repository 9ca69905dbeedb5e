"""Redis clients with every timeout and retry stated; the library's defaults lose or double messages here."""

from typing import Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff, NoBackoff

CONNECT_TIMEOUT_S: Final = 5.0
# A reply later than this is taken for lost.
REPLY_TIMEOUT_S: Final = 5.0
# Three tries within a second; the accepting script makes repeating harmless.
PRODUCER_RETRIES: Final = 3


def open_producer(url: str) -> Redis:
    """A client for calls that may be repeated safely: the accepting script and reads."""
    return _open(url, REPLY_TIMEOUT_S, Retry(ExponentialBackoff(cap=0.5, base=0.05), PRODUCER_RETRIES))


def open_consumer(url: str, block_ms: int) -> Redis:
    """A client for blocking reads: it waits longer than the block and never repeats by itself.

    A repeated XREADGROUP would deliver a second batch while the first one is pending and unseen.
    """
    return _open(url, block_ms / 1000 + REPLY_TIMEOUT_S, Retry(NoBackoff(), 0))


def _open(url: str, reply_timeout_s: float, retry: Retry) -> Redis:
    return Redis.from_url(url, socket_connect_timeout=CONNECT_TIMEOUT_S, socket_timeout=reply_timeout_s, retry=retry)
