"""Waiting until an event can be found: many wait, one looks."""

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from lithify.errors import Unavailable
from lithify.gateway import receipt_watch
from lithify.gateway.receipt_watch import ReceiptWatch, rest_s
from lithify.streams import Receipts, keys, open_consumer
from tests.integration.stream_parts import PATIENCE_S, accept

WAITERS = 400
PATIENCE_MS = 20_000


class CountingReceipts(Receipts):
    """Counts the calls, and how many of them are under way at once."""

    def __init__(self, redis: Redis) -> None:
        super().__init__(redis)
        self.calls = 0
        self.asked: list[int] = []
        self.together = 0
        self._running = 0

    async def read_outcomes(self, events: Any) -> list[bool | None]:
        self.calls += 1
        self._running += 1
        self.asked.append(len(events))
        self.together = max(self.together, self._running)
        try:
            return await super().read_outcomes(events)
        finally:
            self._running -= 1


def looking_tasks() -> list[str]:
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name() == "receipt watch"]


async def until_looked(receipts: CountingReceipts, looks: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while receipts.calls < looks:  # noqa: ASYNC110 - what is waited for happens in Redis
            await asyncio.sleep(0.001)


async def test_hundreds_wait_with_one_call_at_a_time(redis: Redis) -> None:
    names = [f"e{number}" for number in range(WAITERS)]
    await accept(redis, *names)
    receipts = CountingReceipts(redis)
    watch = ReceiptWatch(receipts)
    before = int((await redis.info("commandstats"))["cmdstat_evalsha"]["calls"])

    waiting = [asyncio.create_task(watch.wait_searchable("default", name, PATIENCE_MS)) for name in names]
    await until_looked(receipts, 5)
    await receipts.mark("default", [(name, {"embedded_at": 1}) for name in names])
    looks_before_the_mark = receipts.calls
    assert await asyncio.gather(*waiting) == [True] * WAITERS

    assert receipts.together == 1
    assert set(receipts.asked) == {WAITERS}
    # The look that was under way, and the one behind it.
    assert receipts.calls <= looks_before_the_mark + 2
    called = int((await redis.info("commandstats"))["cmdstat_evalsha"]["calls"]) - before
    assert called <= receipts.calls + 2
    await asyncio.sleep(0)
    assert not looking_tasks()


@pytest.mark.parametrize(
    ("mark", "found"), [({"embedded_at": 1}, True), ({"ignored": "role tool"}, False), ({"error": "no"}, False)]
)
async def test_waiting_ends_when_it_is_settled(redis: Redis, mark: dict[str, str | int], found: bool) -> None:
    await accept(redis, "e1")
    await Receipts(redis).mark("default", [("e1", mark)])
    assert await ReceiptWatch(Receipts(redis)).wait_searchable("default", "e1", PATIENCE_MS) is found


async def test_an_event_without_a_receipt_is_not_waited_for(redis: Redis) -> None:
    await accept(redis, "e1")
    await redis.delete(keys.receipt("default", "e1"))
    assert not await ReceiptWatch(Receipts(redis)).wait_searchable("default", "e1", PATIENCE_MS)


async def test_each_hears_of_its_own_event_and_two_may_wait_for_one(redis: Redis) -> None:
    await accept(redis, "e1", "e2")
    watch = ReceiptWatch(Receipts(redis))
    first, again = (asyncio.create_task(watch.wait_searchable("default", "e1", PATIENCE_MS)) for _ in range(2))
    other = asyncio.create_task(watch.wait_searchable("default", "e2", PATIENCE_MS))
    gone = asyncio.create_task(watch.wait_searchable("default", "e2", PATIENCE_MS))
    await asyncio.sleep(0)
    gone.cancel()
    await Receipts(redis).mark("default", [("e1", {"embedded_at": 1})])
    assert await first
    assert await again
    assert not other.done()
    await Receipts(redis).mark("default", [("e2", {"error": "no"})])
    assert not await other
    assert gone.cancelled()


async def test_who_waited_long_enough_is_told_so_and_the_next_can_wait_again(redis: Redis) -> None:
    await accept(redis, "e1")
    watch = ReceiptWatch(Receipts(redis))
    assert not await watch.wait_searchable("default", "e1", 20)
    assert not await watch.wait_searchable("default", "e1", 0)
    await Receipts(redis).mark("default", [("e1", {"embedded_at": 1})])
    assert await watch.wait_searchable("default", "e1", PATIENCE_MS)


async def test_more_than_one_call_can_hold_are_asked_for_in_several(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipt_watch, "AT_ONCE", 2)
    names = [f"e{number}" for number in range(5)]
    await accept(redis, *names)
    receipts = CountingReceipts(redis)
    await receipts.mark("default", [(name, {"embedded_at": 1}) for name in names])
    watch = ReceiptWatch(receipts)
    assert await asyncio.gather(*(watch.wait_searchable("default", name, PATIENCE_MS) for name in names)) == [True] * 5
    assert receipts.asked == [2, 2, 1]


async def test_all_who_wait_hear_of_an_outage(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with open_consumer(f"unix://{tmp_path_factory.mktemp('no')}/redis.sock", block_ms=0) as nobody:
        watch = ReceiptWatch(Receipts(nobody))
        waiting = [watch.wait_searchable("default", name, PATIENCE_MS) for name in ("e1", "e2")]
        results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [Unavailable, Unavailable]


@pytest.mark.parametrize(("took_s", "pause_s"), [(0.0001, 0.01), (0.0025, 0.01), (0.005, 0.02), (3.0, 0.25)])
def test_a_fifth_of_the_time_goes_into_looking_and_nobody_is_kept_waiting_for_it(took_s: float, pause_s: float) -> None:
    assert rest_s(took_s) == pytest.approx(pause_s)
