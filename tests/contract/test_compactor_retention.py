"""Retention: raw turns go only when an operator says so, and only those a summary stands for."""

from pathlib import Path

import pytest

from lithify.archive import Findings, SegmentWriter, encode_line, read_archive, whole_archive
from lithify.compactor.retention import DAY_MS, PURGE_JOB, ArchivedTurns, RawRetention, purge_compacted
from lithify.errors import Unavailable
from lithify.events import encode_event
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


def archive_of(folder: Path) -> list[str]:
    return sorted(line.event.event_id for line in read_archive(folder, Findings()))


async def test_purged_turns_leave_the_archive_or_a_rebuild_would_bring_them_back(bench: Bench, tmp_path: Path) -> None:
    turns = chat(14)
    writer = SegmentWriter.open(tmp_path, "w", lambda: 1)
    writer.append([encode_line("s", f"{turn.ts}-0", turn.seq, encode_event(turn)) for turn in turns])

    async def seal() -> None:
        writer.seal()

    await bench.tell(turns)
    await bench.run()
    archived = ArchivedTurns(tmp_path, bench.redis, seal)
    parts = RawRetention(bench.store, 1, lambda: 1_004 + DAY_MS, archived)
    context = JobContext("job", PURGE_JOB, 1, parts, bench.executor, bench.connection)
    assert await purge_compacted(context) == {"purged": 5, "lines": 5}
    assert archive_of(tmp_path) == [f"s1-{number:03}" for number in range(5, 14)]
    assert await purge_compacted(context) == {"purged": 0, "lines": 0}
    writer.close()


async def test_lines_of_turns_that_were_purged_from_the_store_alone_are_purged_now(
    bench: Bench, tmp_path: Path
) -> None:
    """As releases did that left the archive alone; what is active or young stays."""
    turns = chat(14)
    writer = SegmentWriter.open(tmp_path, "w", lambda: 1)
    writer.append([encode_line("s", f"{turn.ts}-0", turn.seq, encode_event(turn)) for turn in turns])
    writer.close()
    await bench.tell(turns)
    await bench.run()
    await purge(bench, days=1, now_ms=1_006 + DAY_MS)
    parts = RawRetention(bench.store, 1, lambda: 1_004 + DAY_MS, ArchivedTurns(tmp_path, bench.redis))
    context = JobContext("job", PURGE_JOB, 1, parts, bench.executor, bench.connection)
    assert await purge_compacted(context) == {"purged": 0, "lines": 5}
    assert archive_of(tmp_path) == [f"s1-{number:03}" for number in range(5, 14)]


async def test_purge_waits_for_a_rebuild(bench: Bench, tmp_path: Path) -> None:
    await bench.tell(chat(14))
    await bench.run()
    parts = RawRetention(bench.store, 1, lambda: 10**12, ArchivedTurns(tmp_path, bench.redis))
    context = JobContext("job", PURGE_JOB, 1, parts, bench.executor, bench.connection)
    with whole_archive(tmp_path), pytest.raises(Unavailable):
        await purge_compacted(context)
    assert len(await bench.memories("turn")) == 14
