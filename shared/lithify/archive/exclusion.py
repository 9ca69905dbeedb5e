"""Keeps those apart who copy all memories and those who forget, on whichever machines they run."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from redis.asyncio import Redis
from redis.asyncio.lock import Lock
from redis.exceptions import LockError

from lithify.archive.durable import whole_archive
from lithify.errors import Unavailable
from lithify.streams import keys
from lithify.streams.outage import outages

# A holder that was killed keeps the others waiting for so long.
LEASE_S: Final = 30.0
# One lost renewal must not let another in.
RENEW_S: Final = LEASE_S / 4


@asynccontextmanager
async def exclude_copies(archive: Path, redis: Redis | None, patience_s: float = 0.0) -> AsyncIterator[None]:
    """Admits one at a time who copies memories, as rebuild and re-embedding do, or deletes what is forgotten.

    The lock on the archive's folder holds on one machine, the one in Redis for all that share it; None where there is
    no Redis but one's own. Raises Unavailable while another holds either, in Redis after a wait of `patience_s`, and
    inside as soon as it is lost.
    """
    with whole_archive(archive):
        if redis is None:
            yield
            return
        async with hold_shared_lock(redis, patience_s):
            yield


@asynccontextmanager
async def hold_shared_lock(redis: Redis, patience_s: float = 0.0, lease_s: float = LEASE_S) -> AsyncIterator[None]:
    """Holds the lock in Redis and renews it; whoever has lost it is stopped at once, before another does harm.

    With the patience of a lease it waits for a holder that was killed.
    """
    lock = Lock(redis, keys.COPYING, timeout=lease_s, thread_local=False)
    with outages():
        ours = await lock.acquire(blocking=patience_s > 0, blocking_timeout=patience_s)
    if not ours:
        raise Unavailable("another process is copying the memories or forgetting some of them; try later")
    try:
        async with asyncio.timeout(None) as holding:
            renewal = asyncio.create_task(_keep_renewing(lock, lease_s, holding), name="renew-copying")
            try:
                yield
            finally:
                renewal.cancel()
                await asyncio.wait([renewal])
    except TimeoutError as error:
        if holding.expired():
            raise Unavailable("the lock on copying memories was lost; what was under way is done again") from error
        raise
    finally:
        # A lock that cannot be given back runs out by itself.
        with suppress(LockError, Unavailable), outages():
            await lock.release()


async def _keep_renewing(lock: Lock, lease_s: float, holding: asyncio.Timeout) -> None:
    loop = asyncio.get_running_loop()
    renewed_at = loop.time()
    while loop.time() - renewed_at < lease_s:
        await asyncio.sleep(lease_s / (LEASE_S / RENEW_S))
        try:
            with outages():
                await lock.reacquire()
            renewed_at = loop.time()
        except LockError:
            break
        except Unavailable:
            continue
    holding.reschedule(loop.time())
