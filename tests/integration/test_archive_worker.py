"""No event leaves the stream for the archive group before it is on disk, whatever ends the worker."""

import asyncio
import errno
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from redis.asyncio import Redis

from lithify.archive import Findings, Rotation, SegmentWriter, index_newest, read_archive, read_newest, rewrite
from lithify.archive.manifest import is_sealed
from lithify.archive.segment import segment_paths
from lithify.archiver.inspection import wait_until_archived
from lithify.archiver.worker import ArchiveWorker, archive_consumer, open_archive_worker
from lithify.errors import Misconfigured, Unavailable
from lithify.events import system_clock
from lithify.streams import Consumer, ConsumerSettings, Delivery, keys, open_consumer, trim
from lithify.streams.groups import ARCHIVE
from lithify.streams.progress import StreamId, read_progress
from tests.integration.stream_parts import (
    CALM,
    PARTITIONS,
    QUICK,
    STREAM,
    accept,
    eventually,
    pending,
    producer,
    running,
    turn,
)

# Enough to keep the worker in the middle of something, few enough to be worked off one by one afterwards.
BACKLOG = 50

WORKER = """
import asyncio, sys
from pathlib import Path
from lithify.archive import Rotation
from lithify.archiver.worker import archive_consumer, open_archive_worker
from lithify.events import system_clock
from lithify.streams import ConsumerSettings, arm, open_consumer

async def main(url, archive, name, crash_at):
    arm(crash_at or None)
    limits = ConsumerSettings(block_ms=10, lease_ms=500)
    async with (
        open_archive_worker(Path(archive), name, system_clock, Rotation(max_bytes=2_000)) as worker,
        open_consumer(url, 10) as redis,
    ):
        await archive_consumer(worker, redis, 1, name, limits, system_clock).run()

asyncio.run(main(*sys.argv[1:]))
"""


async def start(redis_url: str, archive: Path, name: str = "w-0", crash_at: str = "") -> asyncio.subprocess.Process:
    arguments = (redis_url, str(archive), name, crash_at)
    return await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, *arguments)


@asynccontextmanager
async def archiving(
    redis: Redis,
    archive: Path,
    name: str = "w-0",
    limits: ConsumerSettings = QUICK,
    partitions: int = 1,
    rotation: Rotation | None = None,
) -> AsyncIterator[tuple[ArchiveWorker, Consumer]]:
    async with open_archive_worker(archive, name, system_clock, rotation) as worker:
        consumer = archive_consumer(worker, redis, partitions, name, limits, system_clock)
        async with running(consumer):
            yield worker, consumer


def archived(archive: Path) -> list[str]:
    return [event.event_id for event in read_newest(archive, index_newest(archive), Findings())]


def lines(archive: Path) -> Counter[str]:
    return Counter(item.event.event_id for item in read_archive(archive, Findings()))


async def acknowledged(redis: Redis, accepted: dict[str, str]) -> set[str]:
    """The events the archive group has behind it, by id; `accepted` maps stream ids to event ids."""
    progress = (await read_progress(redis, STREAM)).get(ARCHIVE)
    if progress is None:
        return set()
    waiting = {
        StreamId.parse(cast("bytes", item["message_id"]))
        for item in await redis.xpending_range(STREAM, ARCHIVE, "-", "+", 10_000)
    }
    ids = {StreamId.parse(stream_id): event_id for stream_id, event_id in accepted.items()}
    return {event_id for place, event_id in ids.items() if place <= progress.last_delivered and place not in waiting}


async def test_every_accepted_event_is_archived_as_it_was_accepted(redis: Redis, tmp_path: Path) -> None:
    events = [turn(f"e{n}", session=f"s{n % 5}", text=f"text {n}\nsecond line") for n in range(300)]
    accepted = await producer(redis, PARTITIONS).accept([(event, "digest") for event in events])
    async with archiving(redis, tmp_path, partitions=PARTITIONS) as (_, consumer):
        await eventually(lambda: consumer.tally.handled == 300)
        assert {Path(path).parent.name for path in segment_paths(tmp_path)} == {"w-0"}
    found = {item.event.event_id: item for item in read_archive(tmp_path, Findings())}
    for event, acceptance in zip(events, accepted, strict=True):
        item = found[event.event_id]
        assert (str(item.stream_id), item.event.seq) == (acceptance.stream_id, acceptance.seq)
        assert item.event.text == event.text
        assert item.stream == keys.turns(keys.partition_of(event.tenant, event.session, PARTITIONS))
    assert [await pending(redis, keys.turns(p), ARCHIVE) for p in range(PARTITIONS)] == [0, 0]
    assert all(map(is_sealed, segment_paths(tmp_path))), "a stopped worker leaves sealed segments"


async def test_one_sync_serves_a_batch(redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await accept(redis, *(f"e{n}" for n in range(400)))
    appended: list[int] = []
    append = SegmentWriter.append

    def count(self: SegmentWriter, batch: Sequence[object]) -> None:
        appended.append(len(batch))
        append(self, batch)  # type: ignore[arg-type]  # passes on what it was given

    monkeypatch.setattr(SegmentWriter, "append", count)
    async with archiving(redis, tmp_path) as (_, consumer):
        await eventually(lambda: consumer.tally.handled == 400)
    assert appended == [400]


async def test_after_kill_9_in_the_middle_every_acknowledged_event_is_in_the_archive(
    redis: Redis, redis_url: str, tmp_path: Path
) -> None:
    accepted: dict[str, str] = {}
    for round_ in range(3):
        process = await start(redis_url, tmp_path)
        goal = len(accepted) + 150
        async with asyncio.timeout(60):
            while len(done := await acknowledged(redis, accepted)) < goal:
                names = [f"r{round_}-{len(accepted)}-{n}" for n in range(7)]
                if len(accepted) - len(done) < BACKLOG:
                    accepted |= dict(zip(await accept(redis, *names), names, strict=True))
                await asyncio.sleep(0.005)
        process.kill()
        await process.wait()
        done = await acknowledged(redis, accepted)
        assert len(done) >= goal
        assert done <= set(archived(tmp_path))

    async with archiving(redis, tmp_path, limits=CALM) as (_, _):
        await wait_until_archived(redis, 1)
    assert sorted(archived(tmp_path)) == sorted(accepted.values())
    assert all(map(is_sealed, segment_paths(tmp_path)))


async def test_dying_between_disk_and_acknowledgement_repeats_lines_but_no_event(
    redis: Redis, redis_url: str, tmp_path: Path
) -> None:
    await accept(redis, "e1", "e2")
    process = await start(redis_url, tmp_path, crash_at="after_archive")
    async with asyncio.timeout(30):
        assert await process.wait() == 137
    assert lines(tmp_path) == {"e1": 1, "e2": 1}
    assert await pending(redis, STREAM, ARCHIVE) == 2

    async with archiving(redis, tmp_path, limits=CALM) as (_, consumer):
        await eventually(lambda: consumer.tally.handled == 2)
    assert lines(tmp_path) == {"e1": 2, "e2": 2}
    assert archived(tmp_path) == ["e1", "e2"]
    assert await pending(redis, STREAM, ARCHIVE) == 0


async def test_two_workers_share_the_work_and_no_file(redis: Redis, redis_url: str, tmp_path: Path) -> None:
    names = [f"e{n}" for n in range(200)]
    async with (
        open_consumer(redis_url, 20) as other,
        archiving(redis, tmp_path, "w-0") as (_, first),
        archiving(other, tmp_path, "w-1") as (_, second),
    ):
        for start_at in range(0, 200, 5):
            await accept(redis, *names[start_at : start_at + 5])
        await eventually(lambda: first.tally.handled + second.tally.handled == 200)
    assert {path.parent.name for path in segment_paths(tmp_path)} <= {"w-0", "w-1"}
    assert lines(tmp_path) == Counter(names)


async def test_a_second_worker_of_one_name_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lithify.archive.writer.PATIENCE_S", 0.0)
    async with open_archive_worker(tmp_path, "w-0", system_clock):
        with pytest.raises(Misconfigured, match="LITHIFY_WORKER_NAME"):
            async with open_archive_worker(tmp_path, "w-0", system_clock):
                pass


async def test_what_is_forgotten_beside_a_running_worker_is_gone_and_the_worker_goes_on(
    redis: Redis, tmp_path: Path
) -> None:
    async with archiving(redis, tmp_path) as (worker, consumer):
        await accept(redis, "e1", "forgotten")
        await eventually(lambda: consumer.tally.handled == 2)
        await worker.seal()
        result = rewrite(tmp_path, lambda event: event.event_id != "forgotten")
        assert (result.removed, result.kept, result.unsealed) == (1, 1, [])
        await accept(redis, "e2")
        await eventually(lambda: consumer.tally.handled == 3)
    assert archived(tmp_path) == ["e1", "e2"]


async def test_a_segment_of_age_is_sealed_though_no_event_comes(
    redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lithify.archiver.worker.SEAL_CHECK_S", 0.005)
    now_ms = system_clock()
    async with open_archive_worker(tmp_path, "w-0", lambda: now_ms, Rotation(max_age_ms=1_000)) as worker:
        keeper = asyncio.create_task(worker.keep_sealed())
        consumer = archive_consumer(worker, redis, 1, "w-0", QUICK, system_clock)
        async with running(consumer):
            await accept(redis, "e1")
            await eventually(lambda: consumer.tally.handled == 1)
            [path] = segment_paths(tmp_path)
            assert not is_sealed(path)
            now_ms += 1_000
            await eventually(lambda: is_sealed(path))
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)


async def test_a_full_disk_is_waited_out_and_nothing_is_acknowledged_meanwhile(
    redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async with archiving(redis, tmp_path) as (_, consumer):
        monkeypatch.setattr(os, "fsync", full)
        await accept(redis, "e1", "e2")
        await eventually(lambda: "No space left" in (consumer.outage or ""))
        assert not consumer.ready
        assert await pending(redis, STREAM, ARCHIVE) == 2
        monkeypatch.setattr(os, "fsync", real)
        await eventually(lambda: consumer.tally.handled == 2)
        assert consumer.tally.dead == 0
    assert archived(tmp_path) == ["e1", "e2"]


async def test_an_event_is_never_given_up_however_often_the_worker_died_with_it(
    redis: Redis, redis_url: str, tmp_path: Path
) -> None:
    await accept(redis, "e1")
    await redis.xgroup_create(STREAM, ARCHIVE, "0")
    await redis.xreadgroup(ARCHIVE, "w-0", {STREAM: ">"})
    [entry] = await redis.xpending_range(STREAM, ARCHIVE, "-", "+", 1)
    await redis.xclaim(STREAM, ARCHIVE, "w-0", 0, [entry["message_id"]], retrycount=50)
    async with archiving(redis, tmp_path) as (_, consumer):
        await eventually(lambda: consumer.tally.handled == 1)
    assert archived(tmp_path) == ["e1"]
    assert await redis.xlen(keys.dead(0)) == 0


async def test_what_is_not_archived_yet_is_not_trimmed(redis: Redis, tmp_path: Path) -> None:
    names = [f"e{n}" for n in range(500)]
    await accept(redis, *names)
    embedded: list[str] = []

    async def embed(deliveries: Sequence[Delivery]) -> None:
        embedded.extend(delivery.event.event_id for delivery in deliveries)

    async with running(Consumer(redis, [STREAM], "embed", "embed-0", embed, QUICK, system_clock)):
        await eventually(lambda: len(embedded) == 500)
    assert await trim(redis, STREAM, {"embed", ARCHIVE}) == 0
    async with archiving(redis, tmp_path) as (_, consumer):
        await eventually(lambda: consumer.tally.handled == 500)
    assert await trim(redis, STREAM, {"embed", ARCHIVE}) > 0
    assert archived(tmp_path) == names


async def test_waiting_for_the_archive_ends_when_everything_accepted_is_in_it(redis: Redis, tmp_path: Path) -> None:
    await wait_until_archived(redis, PARTITIONS)
    await accept(redis, "e1", "e2")
    async with archiving(redis, tmp_path):
        await wait_until_archived(redis, 1)
        assert archived(tmp_path) == ["e1", "e2"]


async def test_waiting_for_an_archive_nobody_fills_ends_with_the_way_out(redis: Redis) -> None:
    await accept(redis, "e1")
    with pytest.raises(Unavailable, match="lithify worker archive"):
        await wait_until_archived(redis, 1, stall_s=0.0)


async def test_a_forgotten_entry_at_the_end_of_the_stream_is_not_waited_for(redis: Redis, tmp_path: Path) -> None:
    await accept(redis, "e1")
    [gone] = await accept(redis, "forgotten")
    await redis.xdel(STREAM, gone)
    async with archiving(redis, tmp_path):
        await wait_until_archived(redis, 1)
    assert archived(tmp_path) == ["e1"]
