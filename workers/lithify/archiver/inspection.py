"""Looks after the archive: waits until everything accepted is in it, and reads all of it to find damage early."""

import asyncio
import time
from collections import deque
from pathlib import Path
from typing import Final, cast

import structlog
from pydantic import JsonValue
from redis.asyncio import Redis

from lithify.archive import Findings, read_archive
from lithify.errors import Unavailable
from lithify.jobs import JobContext
from lithify.streams import keys
from lithify.streams.groups import ARCHIVE
from lithify.streams.outage import outages
from lithify.streams.progress import GroupProgress, StreamId, read_progress

JOB: Final = "inspect_archive"

POLL_S: Final = 0.2
# Longer than a lease: what a dead worker held must have had its chance to be taken over.
STALL_S: Final = 120.0
NOTHING: Final = StreamId(0, 0)

log = structlog.get_logger(__name__)


async def wait_until_archived(redis: Redis, partitions: int, stall_s: float = STALL_S) -> None:
    """Returns once every event accepted before the call is on disk, which a rebuild relies on.

    Raises Unavailable when the archive workers have not come any further for stall_s.
    """
    with outages():
        accepted = {stream: await _last_id(redis, stream) for stream in keys.turn_streams(partitions)}
        before: object = None
        moved_at = time.monotonic()
        while behind := await _behind(redis, accepted):
            if behind != before:
                before = behind
                moved_at = time.monotonic()
            elif time.monotonic() - moved_at >= stall_s:
                raise Unavailable(
                    f"accepted events in {', '.join(sorted(behind))} are not in the archive yet and no worker is "
                    "putting them there; start `lithify worker archive`"
                )
            await asyncio.sleep(POLL_S)


async def _behind(redis: Redis, accepted: dict[str, StreamId]) -> dict[str, GroupProgress | None]:
    """Returns the streams whose archive group still has work before that id, with how far it has come."""
    progress = {stream: (await read_progress(redis, stream)).get(ARCHIVE) for stream in accepted}
    return {stream: state for stream, state in progress.items() if not has_passed(state, accepted[stream])}


def has_passed(state: GroupProgress | None, accepted: StreamId) -> bool:
    """Tells whether a group has finished everything up to that id."""
    if state is None:
        return accepted == NOTHING
    return state.last_delivered >= accepted and (state.lowest_pending is None or state.lowest_pending > accepted)


async def _last_id(redis: Redis, stream: str) -> StreamId:
    """Returns the last entry that is there: the id generated last may be of a forgotten one, which no group reads."""
    entries = cast("list[tuple[bytes, object]]", await redis.xrevrange(stream, count=1))
    return StreamId.parse(entries[0][0]) if entries else NOTHING


async def inspect_archive(context: JobContext[Path]) -> JsonValue:
    """Reads the whole archive and returns counts and the places of damage; the log has an error for each of them."""
    findings = await context.offload(read_through, context.parts)
    for damage in findings.damage:
        log.error("archive_damaged", place=str(damage))
    return {
        "segments": findings.segments,
        "lines": findings.lines,
        "torn_bytes": findings.torn_bytes,
        "damage": [str(damage) for damage in findings.damage],
    }


def read_through(archive: Path) -> Findings:
    findings = Findings()
    deque(read_archive(archive, findings), maxlen=0)
    return findings
