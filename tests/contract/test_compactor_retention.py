"""Retention: raw turns go only when an operator says so, and only those a summary stands for."""

import pytest

from lithify.compactor.retention import DAY_MS, PURGE_JOB, RawRetention, purge_compacted
from lithify.jobs import JobContext
from tests.compaction_parts import Bench, chat

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


async def purge(bench: Bench, days: int, now_ms: int) -> object:
    parts = RawRetention(bench.store, days, lambda: now_ms)
    return await purge_compacted(JobContext("job", PURGE_JOB, 1, parts, bench.executor, bench.connection))


async def test_nothing_is_purged_unless_configured(bench: Bench) -> None:
    await bench.tell(chat(14))
    await bench.run()
    assert await purge(bench, days=0, now_ms=10**12) == {"purged": 0}
    assert len(await bench.memories("turn")) == 14


async def test_only_compacted_turns_of_that_age_are_purged(bench: Bench) -> None:
    """The turns are of the milliseconds 1000 to 1013, the first ten of them compacted."""
    await bench.tell(chat(14))
    await bench.run()
    assert await purge(bench, days=1, now_ms=1_004 + DAY_MS) == {"purged": 5}
    assert [turn.event_id for turn in await bench.memories("turn")] == [f"s1-{number:03}" for number in range(5, 14)]
    assert await purge(bench, days=1, now_ms=10**12) == {"purged": 5}
    assert await bench.active_turns() == [f"s1-{number:03}" for number in range(10, 14)]
    assert len(await bench.covered()) == 10


async def test_turn_that_is_active_again_is_kept_however_old(bench: Bench) -> None:
    await bench.tell(chat(14))
    await bench.run()
    await bench.change("s1-003", active=True)
    assert await purge(bench, days=1, now_ms=10**12) == {"purged": 9}
    assert "s1-003" in await bench.active_turns()


async def test_session_goes_on_after_its_raw_turns_are_gone(bench: Bench) -> None:
    await bench.tell(chat(14))
    await bench.run()
    await purge(bench, days=1, now_ms=10**12)
    await bench.tell(chat(10, start=14))
    assert (await bench.run())["turns_removed"] == 10
    assert len(await bench.covered()) == 20
