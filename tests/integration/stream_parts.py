"""What the stream tests are made of: events, a producer, and consumers that run inside the test."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, cast

from redis.asyncio import Redis

from lithify.events import Event, encode_event, system_clock
from lithify.streams import Consumer, ConsumerSettings, DeadLetters, Delivery, Handler, Producer, keys
from lithify.streams.member import Member

PARTITIONS: Final = 2
GROUP: Final = "embed"
STREAM: Final = keys.turns(0)
DEAD: Final = keys.dead(0)
PATIENCE_S: Final = 20.0
MOMENT: Final = 1_700_000_000_000

QUICK: Final = ConsumerSettings(block_ms=10, lease_ms=200, first_pause_ms=1, longest_pause_ms=10)
# Long enough that no lease runs out while a test looks at something else.
CALM: Final = ConsumerSettings(block_ms=10, lease_ms=60_000, first_pause_ms=1, longest_pause_ms=10)


def turn(event_id: str, session: str = "s", tenant: str = "default", text: str = "hello", **more: int | str) -> Event:
    return Event(event_id, tenant, "u", session, "user", text, ts=1_000, **more)  # type: ignore[arg-type]  # test values


def producer(redis: Redis, partitions: int = 1) -> Producer:
    return Producer(redis, partitions, system_clock)


async def accept(redis: Redis, *event_ids: str) -> list[str]:
    """Accept one turn per id into partition 0 and return the stream ids."""
    results = await producer(redis).accept([(turn(event_id), "digest") for event_id in event_ids])
    return [result.stream_id for result in results]


def content(_delivery: Delivery) -> None:
    """Judges every delivery to be fine."""


class Ledger:
    """A handler that writes down what it was given; `judge` may raise for single deliveries."""

    def __init__(self, judge: Callable[[Delivery], None] = content) -> None:
        self.calls: list[list[str]] = []
        self.done: list[str] = []
        self.attempts: list[int] = []
        self._judge = judge

    async def __call__(self, deliveries: Sequence[Delivery]) -> None:
        self.calls.append([delivery.event.event_id for delivery in deliveries])
        self.attempts += [delivery.attempt for delivery in deliveries]
        for delivery in deliveries:
            self._judge(delivery)
        self.done += [delivery.event.event_id for delivery in deliveries]


def consumer(redis: Redis, handler: Handler, settings: ConsumerSettings = QUICK, name: str = "embed-0") -> Consumer:
    return Consumer(redis, [STREAM], GROUP, name, handler, settings, system_clock)


@asynccontextmanager
async def running(*consumers: Consumer) -> AsyncIterator[None]:
    """Runs consumers beside the test and drains them at its end; what they raise fails the test."""
    async with asyncio.TaskGroup() as tasks:
        for worker in consumers:
            tasks.create_task(worker.run())
        try:
            yield
        finally:
            for worker in consumers:
                worker.stop()


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in Redis or in code that knows no tests
            await asyncio.sleep(0.005)


async def entries(redis: Redis, stream: str) -> list[tuple[str, dict[str, str]]]:
    raw = cast("list[tuple[bytes, dict[bytes, bytes]]]", await redis.xrange(stream))
    return [(stream_id.decode(), {k.decode(): v.decode() for k, v in fields.items()}) for stream_id, fields in raw]


async def pending(redis: Redis, stream: str = STREAM, group: str = GROUP) -> int:
    return int((await redis.xpending(stream, group))["pending"])


def poison(*event_ids: str, error: type[Exception] = RuntimeError) -> Ledger:
    def judge(delivery: Delivery) -> None:
        if delivery.event.event_id in event_ids:
            raise error(f"cannot digest {delivery.event.event_id}")

    return Ledger(judge)


async def delivered_to(redis: Redis, name: str, count: int) -> None:
    """Leaves entries as a consumer does that died right after reading."""
    member = Member(redis, [STREAM], GROUP, name)
    await member.join()
    assert len(await member.read(count, block_ms=10)) == count


def dead_letters(redis: Redis, partitions: int = 1) -> DeadLetters:
    return DeadLetters(redis, partitions, lambda: 99)


async def laid(redis: Redis, letter_id: str, tenant: str = "default", event: bytes | None = None) -> None:
    """A letter at a known place."""
    partition, _, entry_id = letter_id.partition("-")
    fields: dict[Any, Any] = {
        "event": event or encode_event(Event(f"e{letter_id}", tenant, "u", "s", "user", "hi", ts=1)),
        "seq": 1,
        "dead_stream": keys.turns(int(partition)),
        "dead_group": GROUP,
        "dead_id": "5-0",
        "dead_reason": "bad",
    }
    await redis.xadd(keys.dead(int(partition)), fields, id=entry_id)
