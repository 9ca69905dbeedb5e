"""One batch of deliveries from the stream to the disk: appended in one block, synced once, then acknowledged."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import structlog
from redis.asyncio import Redis

from lithify.archive import ArchiveLine, Rotation, SegmentWriter, encode_line
from lithify.errors import Unavailable
from lithify.events import Clock
from lithify.streams import Consumer, ConsumerSettings, Delivery, crash_point, keys
from lithify.streams.delivery import accepted_id
from lithify.streams.groups import ARCHIVE

# Events that share one block and one fsync; larger blocks hardly gain speed or size any more (docs/archive.md).
BATCH: Final = 512
# How late an idle segment may be sealed.
SEAL_CHECK_S: Final = 60.0
# No event is poison to bytes on a disk, and a process that dies over and over is not the fault of what it had read.
NEVER_DEAD: Final = 2**31 - 1

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ArchiveWorker:
    """`thread` is a single one: the writer takes its calls one at a time, and blocks on the disk."""

    writer: SegmentWriter
    thread: Executor

    async def handle(self, deliveries: Sequence[Delivery]) -> None:
        """Appends the events, which survive a power cut on return; only then may they be acknowledged.

        An event whose acknowledgement is lost is appended again; readers take it once.
        """
        lines = [make_line(delivery) for delivery in deliveries]
        await asyncio.get_running_loop().run_in_executor(self.thread, self.writer.append, lines)
        crash_point("after_archive")

    async def seal(self) -> None:
        """Seals the open segment, so that it can be rewritten. Raises Unavailable if the disk refuses."""
        await asyncio.get_running_loop().run_in_executor(self.thread, self.writer.seal)

    async def keep_sealed(self) -> None:
        """Seals, beside the consumers, a segment that has reached its age even when no event comes."""
        while True:
            await asyncio.sleep(SEAL_CHECK_S)
            try:
                await asyncio.get_running_loop().run_in_executor(self.thread, self.writer.seal_if_due)
            except Unavailable as error:
                log.warning("segment_not_sealed", error=str(error))


@asynccontextmanager
async def open_archive_worker(
    archive: Path, name: str, clock: Clock, rotation: Rotation | None = None
) -> AsyncIterator[ArchiveWorker]:
    """Opens a worker; everything it handled is in sealed segments afterwards.

    Raises Misconfigured if the name is already in use.
    """
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, thread_name_prefix="archive") as thread:
        writer = await loop.run_in_executor(thread, SegmentWriter.open, archive, name, clock, rotation)
        try:
            yield ArchiveWorker(writer, thread)
        finally:
            await loop.run_in_executor(thread, writer.close)


def archive_consumer(
    worker: ArchiveWorker, redis: Redis, partitions: int, name: str, limits: ConsumerSettings, clock: Clock
) -> Consumer:
    """Makes the consumer.

    Name it like the writer: a process that takes over the name takes over its unacknowledged events at once.
    """
    streams = keys.turn_streams(partitions)
    fitting = replace(limits, batch=BATCH, max_attempts=NEVER_DEAD)
    return Consumer(
        redis, streams=streams, group=ARCHIVE, name=name, handler=worker.handle, settings=fitting, clock=clock
    )


def slot_name(worker_name: str | None) -> str:
    """Returns a stable name, by which a restarted process finds its segments and messages again."""
    return f"{worker_name or socket.gethostname()}-0"


def make_line(delivery: Delivery) -> ArchiveLine:
    """Makes the line of an event under the id it was accepted as: one that is sent again is no newer for it."""
    entry = delivery.entry
    return encode_line(entry.stream, accepted_id(entry) or entry.stream_id, delivery.event.seq, entry.fields[b"event"])
