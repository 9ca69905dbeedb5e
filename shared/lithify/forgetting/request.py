"""How a forgetting is asked for and watched."""

import asyncio
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from redis.exceptions import ResponseError
from rq.job import JobStatus

from lithify.forgetting.target import Target
from lithify.jobs.connection import in_thread
from lithify.jobs.enqueue import DAY_S, Policy, Ticket, enqueue, find
from lithify.jobs.record import open_queue
from lithify.streams import keys
from lithify.streams.outage import outages
from lithify.streams.progress import StreamId

QUEUE: Final = "forgetting"
JOB: Final = "forget"
KEPT_S: Final = 90 * DAY_S
# Ids may be ahead of a clock that was set back, for which nobody waits.
MOST_LOOKS: Final = 20

# Receipts tell what came after the request, and are kept for a day at least.
LONGEST_MS: Final = 12 * 3_600_000

# A long archive takes minutes. A rebuild, which excludes the rewriting, takes hours.
POLICY: Final = Policy(
    timeout_s=3 * 3_600,
    retry_after_s=(5, 30, 60, 300, 900, 1_800, 3_600, 3_600),
    result_ttl_s=KEPT_S,
    failure_ttl_s=KEPT_S,
)


@dataclass(frozen=True, slots=True)
class Forgetting:
    """`receipt` is set once everything is gone and that was verified, `error` once it was given up.

    `attempts` says how often it was begun, those that an outage ended included.
    """

    id: str
    status: str
    receipt: JsonValue = None
    error: str | None = None
    attempts: int = 0

    @property
    def has_ended(self) -> bool:
        return self.receipt is not None or self.error is not None


async def read_present_moment(redis: Redis, partitions: int) -> int:
    """Reads a moment not before anything accepted so far, in ms of the clock that counts: that of the stream ids.

    Ids run ahead of Redis's clock after it was set back. Raises Unavailable if Redis did not answer.
    """
    with outages():
        seconds, micros = await redis.time()
        last = [await _last_ms(redis, stream) for stream in keys.turn_streams(partitions)]
    return max(int(seconds) * 1000 + int(micros) // 1000, *last)


async def wait_past(redis: Redis, moment_ms: int) -> None:
    """Returns when what is accepted next is later than that moment, at most a few milliseconds afterwards.

    Raises Unavailable if Redis did not answer.
    """
    for _ in range(MOST_LOOKS):
        with outages():
            seconds, micros = await redis.time()
        if int(seconds) * 1000 + int(micros) // 1000 > moment_ms:
            return
        await asyncio.sleep(0.001)


async def _last_ms(redis: Redis, stream: str) -> int:
    try:
        return StreamId.parse((await redis.xinfo_stream(stream))["last-generated-id"]).ms
    except ResponseError as error:
        if "no such key" in str(error):
            return 0
        raise


async def request_forgetting(connection: BlockingRedis, target: Target, before_ms: int) -> Ticket:
    """Asks for a forgetting, durable on return.

    Two requests are two forgettings: the later one also means what was said between them.

    Raises Unavailable if Redis cannot serve; asking again is safe.
    """
    args = target.arguments() | {"before": before_ms}
    unique = f"{target.tombstones() or [target.name]} of {target.tenant} before {before_ms}"
    return await enqueue(open_queue(connection, QUEUE), JOB, args, unique_id=unique, policy=POLICY)


async def read_forgetting(connection: BlockingRedis, tenant: str, forgetting_id: str) -> Forgetting | None:
    """Reads how a forgetting stands.

    Returns None if the tenant asked for none of that id, or so long ago that its record is gone. Raises Unavailable.
    """
    return await in_thread(_read, connection, tenant, forgetting_id)


def _read(connection: BlockingRedis, tenant: str, forgetting_id: str) -> Forgetting | None:
    job = find(connection, forgetting_id) if forgetting_id.startswith(f"{JOB}-") else None
    if job is None or job.call.name != JOB or job.call.args.get("tenant") != tenant:
        return None
    outcome = job.outcome()
    waits = outcome.status in (JobStatus.QUEUED, JobStatus.SCHEDULED)
    return Forgetting(job.id, outcome.status, outcome.result, outcome.reason, job.attempt + job.outages - waits)
