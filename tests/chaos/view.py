"""Looks at everything there is after the storm: the store, Redis and the archive."""

import asyncio
from pathlib import Path

from lithify.archive import Findings, read_archive
from lithify.streams import keys
from lithify.streams.progress import StreamId
from tests.chaos import redis_view
from tests.chaos.observation import Fields, Kept, Observation
from tests.chaos.store_view import read_records
from tests.chaos.system import PARTITIONS, System


async def observe(system: System) -> Observation:
    redis = system.redis
    streams = [info for name in keys.turn_streams(PARTITIONS) if (info := await redis_view.read_stream(redis, name))]
    entries = sum(int(stream["entries-added"]) for stream in streams)
    unread, pending = await redis_view.read_backlog(redis)
    archived, damage = await asyncio.to_thread(read_archived, system.archive)
    letters = await redis_view.read_letters(redis)
    return Observation(
        records=[record async for record in read_records(system.qdrant.url)],
        receipts=await redis_view.read_receipts(redis),
        archived=archived if system.archivers else None,
        damage=damage,
        tails=await redis_view.read_tails(redis),
        streamed=await redis_view.read_streamed(redis),
        letters=letters,
        lettered=[kept for letter in letters if (kept := read_letter(letter))],
        erasures=await redis_view.read_erasures(system.server.url),
        entries=entries,
        trimmed=entries - sum(int(stream["length"]) for stream in streams),
        unread=unread,
        pending=pending,
        jobs=await redis_view.count_jobs(redis),
        given_up=await redis_view.read_given_up(redis),
        immortal_keys=await redis_view.read_immortal(redis),
        is_gated=bool(system.gaters),
    )


def read_letter(letter: Fields) -> Kept | None:
    first_id = letter.get("dead_id")
    return redis_view.read_kept("dead letters", letter, StreamId.parse(first_id) if first_id else None)


def read_archived(folder: Path) -> tuple[list[Kept], list[str]]:
    """Returns every line there is, those of repeated work too; and what of the segments cannot be read."""
    findings = Findings()
    lines = read_archive(folder, findings) if folder.exists() else []
    archived = [redis_view.make_kept("archive", line.event, line.stream_id) for line in lines]
    return archived, [str(damage) for damage in findings.damage]
