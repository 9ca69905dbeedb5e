"""A random walk over add, read, acknowledge, crash, claim and trim: an unacknowledged event is never lost."""

import asyncio
from collections.abc import Coroutine
from typing import Any, ClassVar, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from lithify.streams import dismiss_idle, keys, open_consumer, read_lag, trim
from lithify.streams.delivery import StreamEntry, decode
from lithify.streams.member import Member
from tests.integration.stream_parts import GROUP, STREAM, entries, producer, turn

T = TypeVar("T")
NAMES = ("a", "b", "c")
members = st.sampled_from(NAMES)


class Walk(RuleBasedStateMachine):
    url: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.redis = open_consumer(self.url, block_ms=10)
        self.members = {name: Member(self.redis, [STREAM], GROUP, name) for name in NAMES}
        self.accepted: list[str] = []
        self.acknowledged: set[str] = set()
        self.buried: set[str] = set()
        self.in_hand: dict[str, list[StreamEntry]] = {name: [] for name in NAMES}
        self.run(self.start())

    async def start(self) -> None:
        await self.redis.flushall()
        await self.members["a"].join()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.run(self.drain())
        self.run(self.redis.aclose())
        self.runner.close()

    @rule(count=st.integers(1, 120))
    def add(self, count: int) -> None:
        fresh = [f"e{len(self.accepted) + number}" for number in range(count)]
        self.run(producer(self.redis).accept([(turn(event_id), "d") for event_id in fresh]))
        self.accepted += fresh

    @precondition(lambda self: self.accepted)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        event_id = data.draw(st.sampled_from(self.accepted))
        [result] = self.run(producer(self.redis).accept([(turn(event_id), "d")]))
        assert result.status == "duplicate"

    @rule(name=members, count=st.integers(1, 150))
    def read(self, name: str, count: int) -> None:
        batch = self.run(self.members[name].read(count, block_ms=1))
        assert len(batch) <= count
        assert all(entry.attempt == 1 for entry in batch)
        self.in_hand[name] += batch

    @rule(name=members, share=st.floats(0, 1))
    def acknowledge(self, name: str, share: float) -> None:
        held = self.in_hand[name]
        done, self.in_hand[name] = held[: int(len(held) * share)], held[int(len(held) * share) :]
        if done:
            self.run(self.members[name].acknowledge(STREAM, [entry.stream_id for entry in done]))
        self.acknowledged |= {decode(entry).event.event_id for entry in done}

    @rule(name=members)
    def bury(self, name: str) -> None:
        if self.in_hand[name]:
            entry = self.in_hand[name].pop()
            self.run(self.members[name].bury(entry, "walk", now_ms=0))
            self.buried |= {decode(entry).event.event_id} - self.acknowledged

    @rule(name=members)
    def crash(self, name: str) -> None:
        self.in_hand[name] = []

    @rule(name=members, lease_ms=st.sampled_from([0, 60_000]))
    def claim(self, name: str, lease_ms: int) -> None:
        for stream_id in self.run(self.members[name].stale(STREAM, lease_ms)):
            entry = self.run(self.members[name].claim(STREAM, stream_id, lease_ms))
            if entry is not None:
                assert entry.attempt >= 1
                self.in_hand[name].append(entry)

    @rule(name=members)
    def renew(self, name: str) -> None:
        if held := self.in_hand[name]:
            self.run(self.members[name].renew(STREAM, [entry.stream_id for entry in held]))

    @rule(name=members)
    def release(self, name: str) -> None:
        for entry in self.in_hand[name]:
            self.run(self.members[name].release(entry, lease_ms=60_000))
        self.in_hand[name] = []

    @rule()
    def trim(self) -> None:
        self.run(trim(self.redis, STREAM, required=[GROUP]))

    @rule()
    def dismiss(self) -> None:
        self.run(dismiss_idle(self.redis, STREAM, GROUP, idle_ms=0))

    @invariant()
    def nothing_unacknowledged_is_gone(self) -> None:
        kept = self.run(entries(self.redis, STREAM))
        on_stream = {decode(StreamEntry(STREAM, i, {b"event": f["event"].encode()}, 1)).event.event_id for i, f in kept}
        assert set(self.accepted) - self.acknowledged - self.buried <= on_stream

    @invariant()
    def every_event_is_unread_pending_or_finished(self) -> None:
        [lag] = self.run(read_lag(self.redis, STREAM))
        assert lag.unread + lag.pending == len(set(self.accepted) - self.acknowledged - self.buried)

    async def drain(self) -> None:
        """Whatever happened before, a last worker gets everything that was not finished, and only that."""
        last = Member(self.redis, [STREAM], GROUP, "last")
        claimed = [await last.claim(STREAM, stream_id, 0) for stream_id in await last.stale(STREAM, 0)]
        got = [entry for entry in claimed if entry is not None]
        got += await last.read(100_000, block_ms=1)
        events = [decode(entry).event.event_id for entry in got]
        assert sorted(events) == sorted(set(self.accepted) - self.acknowledged - self.buried)
        assert await self.redis.xlen(keys.dead(0)) == len(self.buried)


def test_no_walk_loses_or_doubles_an_event(redis_url: str) -> None:
    Walk.url = redis_url
    # Without shrinking: on a real server it would take minutes, and the steps are printed anyway.
    limits = settings(
        max_examples=15,
        stateful_step_count=30,
        deadline=None,
        phases=[Phase.reuse, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Walk, settings=limits)
