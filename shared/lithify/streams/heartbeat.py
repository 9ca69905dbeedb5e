"""Consumers say regularly that they live and how they are, so that any process can list all of them."""

import asyncio
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final, NoReturn, cast

import orjson
import structlog
from redis.asyncio import Redis

from lithify.errors import Unavailable
from lithify.events import Clock
from lithify.streams import keys
from lithify.streams.consumer import Consumer, ConsumerTally
from lithify.streams.outage import outages

EVERY_S: Final = 5
# Four beats: a worker is not declared gone for a slow moment of Redis.
TTL_S: Final = 20
# Names of workers that are gone leave the list after a day; their own keys expire long before.
LISTED_MS: Final = 86_400_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """`ticked_at` is when the loop last came around: beats without ticks tell of a loop that hangs."""

    kind: str
    name: str
    host: str
    pid: int
    started_at: int
    ticked_at: int
    beat_at: int
    ready: bool
    outage: str | None
    in_flight: int
    tally: ConsumerTally
    outcomes: Mapping[str, int] = field(default_factory=dict)  # what its handler counts, e.g. promotions


def heartbeat_of(consumer: Consumer, started_at: int, now_ms: int) -> Heartbeat:
    return Heartbeat(
        kind=consumer.group,
        name=consumer.name,
        host=socket.gethostname(),
        pid=os.getpid(),
        started_at=started_at,
        ticked_at=consumer.ticked_at,
        beat_at=now_ms,
        ready=consumer.ready,
        outage=consumer.outage,
        in_flight=consumer.in_flight,
        tally=consumer.tally,
        outcomes=consumer.outcomes(),
    )


async def keep_beating(redis: Redis, consumers: Sequence[Consumer], clock: Clock, every_s: float = EVERY_S) -> NoReturn:
    """Runs beside the consumers of a process. An outage only leaves beats out."""
    started_at = clock()
    while True:
        try:
            await beat(redis, [heartbeat_of(consumer, started_at, clock()) for consumer in consumers])
        except Unavailable as error:
            log.warning("heartbeat_missed", error=str(error))
        await asyncio.sleep(every_s)


async def beat(redis: Redis, heartbeats: Sequence[Heartbeat]) -> None:
    """Writes how workers are. Raises Unavailable if Redis did not answer."""
    async with redis.pipeline(transaction=True) as pipe:
        for heartbeat in heartbeats:
            key = keys.worker(heartbeat.kind, heartbeat.name)
            pipe.set(key, orjson.dumps(asdict(heartbeat)), ex=TTL_S)
            pipe.zadd(keys.WORKERS, {key: heartbeat.beat_at})
            pipe.zremrangebyscore(keys.WORKERS, "-inf", heartbeat.beat_at - LISTED_MS)
            pipe.pexpire(keys.WORKERS, LISTED_MS)
        with outages():
            await pipe.execute()


async def read_workers(redis: Redis) -> list[Heartbeat]:
    """Reads all workers heard of lately, by kind and name. Raises Unavailable if Redis did not answer."""
    with outages():
        names = cast("list[bytes]", await redis.zrange(keys.WORKERS, 0, -1))
        values = cast("list[bytes | None]", await redis.mget(names)) if names else []
    return sorted((_parse(value) for value in values if value), key=lambda found: (found.kind, found.name))


def _parse(value: bytes) -> Heartbeat:
    fields = orjson.loads(value)
    return Heartbeat(**fields | {"tally": ConsumerTally(**fields["tally"])})
