"""Takes forgotten words out of the files below: databases keep what was deleted until they are made to write anew.

What cannot be cleaned now is told in the receipt, with the time by which it will be gone.
"""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeVar

import structlog
from pydantic import JsonValue
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError, ResponseError

from lithify.errors import LithifyError, Unavailable
from lithify.events import Clock
from lithify.jobs import JobContext
from lithify.store import Erasure, VectorStore
from lithify.streams.outage import outages

JOB: Final = "erase_deleted"

# Of one collection, in the job itself: a few seconds. What is larger waits for the night, and many share one erasure.
MOST_NOW: Final = 20_000
# The nightly job, and an hour for it to run.
POSTPONED_MS: Final = 25 * 3_600_000

POLL_S: Final = 0.05
# A server of many gigabytes takes minutes to write its log anew.
PATIENCE_S: Final = 600.0

T = TypeVar("T")

log = structlog.get_logger(__name__)


class NotAllowed(LithifyError):
    """This user of Redis may not send the command."""


@dataclass(frozen=True, slots=True)
class Remainder:
    """A place whose files still hold forgotten words; `until` is in ms, None where nobody can say."""

    place: str
    until: int | None
    why: str

    def as_json(self) -> dict[str, JsonValue]:
        return asdict(self)


async def erase_records(store: VectorStore, collections: Sequence[str], clock: Clock) -> list[Remainder]:
    """Has the store erase what was deleted from these collections, and returns what remains."""
    done = {await store.erase_deleted(name, most=MOST_NOW) for name in collections}
    remaining: list[Remainder] = []
    if Erasure.POSTPONED in done:
        why = f"more than {MOST_NOW} records are copied into fresh files at night, or with the next start after it"
        remaining.append(Remainder("vectors", clock() + POSTPONED_MS, why))
    if Erasure.ENGINE in done:
        why = "a Qdrant server writes files anew when its optimiser finds enough deleted records in them"
        remaining.append(Remainder("vectors", None, why))
    return remaining


async def erase_postponed(context: JobContext[VectorStore]) -> JsonValue:
    """Erases, at night, what was too much for the forgetting itself. Raises Unavailable; may be repeated."""
    names = await context.parts.erase_postponed()
    if names:
        log.info("deleted_records_erased", collections=len(names))
    return {"erased": list(names)}


async def erase_log(redis: Redis, patience_s: float = PATIENCE_S) -> list[Remainder]:
    """Has Redis write its append-only file anew, waits for that, and returns what remains.

    Raises Unavailable if Redis did not answer or could not write.
    """
    remaining = await _find_copies(redis)
    if not int((await _read_persistence(redis)).get("aof_enabled", 0)):
        return remaining
    try:
        async with asyncio.timeout(patience_s):
            await _rewrite_log(redis)
    except NotAllowed:
        why = "this user of Redis may not BGREWRITEAOF; the file is written anew when it has doubled"
        return [*remaining, Remainder("redis_log", None, why)]
    except TimeoutError:
        return [*remaining, Remainder("redis_log", None, "Redis is still writing its append-only file anew")]
    return remaining


async def _find_copies(redis: Redis) -> list[Remainder]:
    """Returns where else this Redis keeps what was deleted from it, by its configuration."""
    try:
        save = await _read_setting(redis, "save")
        node_entries = await _read_setting(redis, "stream-node-max-entries")
    except NotAllowed:
        why = "this user of Redis may not CONFIG GET, so that nobody knows whether snapshots or streams keep something"
        return [Remainder("redis", None, why)]
    found: list[Remainder] = []
    if save:
        found.append(Remainder("redis_snapshot", None, "the next snapshot that Redis saves takes its place"))
    if node_entries != "1":
        why = "a stream frees a node with its last entry, once others have passed; stream-node-max-entries 1 at once"
        found.append(Remainder("redis_streams", None, why))
    return found


async def _rewrite_log(redis: Redis) -> None:
    """Starts a rewriting after the one that may be under way: that began before the last deletion."""
    while True:
        await _wait_for_rewriting(redis)
        if await _start_rewriting(redis):
            break
    await _wait_for_rewriting(redis)
    if (await _read_persistence(redis)).get("aof_last_bgrewrite_status") != "ok":
        raise Unavailable("Redis could not write its append-only file anew; look at its log")


async def _wait_for_rewriting(redis: Redis) -> None:
    while True:
        state = await _read_persistence(redis)
        if not any(int(state.get(name, 0)) for name in ("aof_rewrite_in_progress", "aof_rewrite_scheduled")):
            return
        await asyncio.sleep(POLL_S)


async def _start_rewriting(redis: Redis) -> bool:
    """Returns False if somebody else was quicker. Raises NotAllowed."""
    try:
        with outages():
            await _send(redis.bgrewriteaof())
    except ResponseError as error:
        if "in progress" in str(error):
            return False
        raise
    return True


async def _read_setting(redis: Redis, name: str) -> str:
    with outages():
        found = await _send(redis.config_get(name))
    return str(found.get(name, ""))


async def _send(command: Awaitable[T]) -> T:
    """Raises NotAllowed for a command that this user of Redis may not send, or that the server does not have."""
    try:
        return await command
    except NoPermissionError as error:
        raise NotAllowed(str(error)) from error
    except ResponseError as error:
        if "unknown command" in str(error).lower():
            raise NotAllowed(str(error)) from error
        raise


async def _read_persistence(redis: Redis) -> Mapping[str, Any]:
    with outages():
        found: Mapping[str, Any] = await redis.info("persistence")
    return found
