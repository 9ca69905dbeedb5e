"""`lithify bench streams`: accepting and consuming against the bare Redis commands below them."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final

import typer
from redis.asyncio import Redis
from rich.table import Table

from lithify.batching import batched
from lithify.cli.console import data, emit_json
from lithify.events import Event, encode_event, system_clock
from lithify.node.redis_server import EmbeddedRedis
from lithify.streams import Consumer, ConsumerSettings, Delivery, Producer, keys, open_consumer

BATCH: Final = 64
# Short rounds, ours and the bare commands in turn, and the median of their ratios: a busy machine slows both alike.
ROUNDS: Final = 11
TEXT: Final = "Could you remind me on Thursday that the blue folder goes back to the library? " * 3
DIGEST: Final = "0" * 32
STREAM: Final = keys.turns(0)
GROUP: Final = "bench"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Events per second of ours and of the bare commands (medians), and the median share of the latter we reach."""

    what: str
    ours: int
    raw: int
    ratio: float


def streams(
    events: Annotated[int, typer.Option(help="Events per round.", min=8 * BATCH)] = 3_200,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Accept and consume against raw XADD and XREADGROUP/XACK, by the same client in the same run."""
    results = asyncio.run(compare(events))
    if json:
        emit_json([asdict(result) for result in results])
        return
    table = Table("what", "ours/s", "raw/s", "ratio")
    for result in results:
        table.add_row(result.what, f"{result.ours:,}", f"{result.raw:,}", f"{result.ratio:.2f}")
    data.print(table)


@dataclass(frozen=True, slots=True)
class Load:
    """The same events for both sides; ours has to encode them, the bare commands get them ready made."""

    events: Sequence[Event]
    envelopes: Sequence[bytes]


Side = Callable[[Redis, Load], Awaitable[None]]


async def compare(events: int) -> list[Comparison]:
    with tempfile.TemporaryDirectory(prefix="lithify-bench-") as folder:
        async with EmbeddedRedis(Path(folder)) as server, open_consumer(server.url, block_ms=100) as redis:
            return [
                await _duel("accept, single", redis, count=events // 8, ours=_accept_single, raw=_add_single),
                await _duel(f"accept, batches of {BATCH}", redis, count=events, ours=_accept_batches, raw=_add_batches),
                await _duel(
                    f"consume, batches of {BATCH}",
                    redis,
                    count=events,
                    ours=_consume,
                    raw=_read_and_ack,
                    prepare=_add_batches,
                ),
            ]


async def _nothing(redis: Redis, load: Load) -> None:
    """Accepting needs nothing before."""


async def _duel(what: str, redis: Redis, count: int, ours: Side, raw: Side, prepare: Side = _nothing) -> Comparison:
    rates = [(await _rate(redis, count, ours, prepare), await _rate(redis, count, raw, prepare)) for _ in range(ROUNDS)]
    ratio = median(mine / bare for mine, bare in rates)
    return Comparison(what, round(median(r[0] for r in rates)), round(median(r[1] for r in rates)), round(ratio, 3))


async def _rate(redis: Redis, count: int, side: Side, prepare: Side) -> float:
    await redis.flushall()
    events = [
        Event(
            event_id=f"event-{n}",
            tenant="default",
            user="user",
            session=f"session-{n // 16}",
            role="user",
            text=TEXT,
            ts=n,
        )
        for n in range(count)
    ]
    load = Load(events, [encode_event(event) for event in events])
    await prepare(redis, load)
    started = time.perf_counter()
    await side(redis, load)
    return count / (time.perf_counter() - started)


async def _accept_single(redis: Redis, load: Load) -> None:
    producer = Producer(redis, 1, system_clock)
    for event in load.events:
        await producer.accept([(event, DIGEST)])


async def _accept_batches(redis: Redis, load: Load) -> None:
    producer = Producer(redis, 1, system_clock)
    for events in batched(load.events, BATCH):
        await producer.accept([(event, DIGEST) for event in events])


async def _add_single(redis: Redis, load: Load) -> None:
    for envelope in load.envelopes:
        await redis.xadd(STREAM, {"event": envelope, "seq": 1})


async def _add_batches(redis: Redis, load: Load) -> None:
    for envelopes in batched(load.envelopes, BATCH):
        async with redis.pipeline(transaction=False) as pipe:
            for envelope in envelopes:
                pipe.xadd(STREAM, {"event": envelope, "seq": 1})
            await pipe.execute()


async def _consume(redis: Redis, load: Load) -> None:
    seen = 0

    async def handle(deliveries: Sequence[Delivery]) -> None:
        nonlocal seen
        seen += len(deliveries)
        if seen >= len(load.events):
            consumer.stop()

    settings = ConsumerSettings(batch=BATCH, block_ms=100)
    consumer = Consumer(
        redis=redis,
        streams=[STREAM],
        group=GROUP,
        name="bench-0",
        handler=handle,
        settings=settings,
        clock=system_clock,
    )
    await consumer.run()


async def _read_and_ack(redis: Redis, load: Load) -> None:
    await redis.xgroup_create(STREAM, GROUP, "0")
    seen = 0
    while seen < len(load.events):
        reply: Any = await redis.xreadgroup(GROUP, "bench-0", {STREAM: ">"}, count=BATCH, block=100)
        entries = reply[0][1]
        await redis.xack(STREAM, GROUP, *(stream_id for stream_id, _ in entries))
        seen += len(entries)
