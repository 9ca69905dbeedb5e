"""Reads what Redis keeps past the product: receipts, tails, streams, letters, jobs, and keys that never expire."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from lithify.compaction import QUEUE as COMPACTION
from lithify.errors import Invalid
from lithify.events import EVERY_TENANT, Event, decode_event
from lithify.forgetting import QUEUE as FORGETTING
from lithify.jobs import keys as job_keys
from lithify.jobs.connection import open_connection
from lithify.jobs.overview import list_jobs, show_job
from lithify.streams import keys
from lithify.streams.progress import StreamId
from tests.chaos.forgetting import Erasure, Target, TargetKind
from tests.chaos.ledger import Facts, Name, find_marks, hash_of
from tests.chaos.observation import Fields, Kept
from tests.chaos.system import PARTITIONS

PAGE: Final = 500
MOST_JOBS: Final = 100_000
UNFINISHED: Final = ("started", "queued", "scheduled")


async def read_backlog(redis: Redis) -> tuple[int, int]:
    """Returns messages never delivered, up to a page a group, and messages delivered but not acknowledged."""
    unread = pending = 0
    for stream in (*keys.turn_streams(PARTITIONS), *map(keys.stored, range(PARTITIONS))):
        for group in await read_groups(redis, stream):
            newer = await redis.xrange(stream, min=f"({group['last-delivered-id'].decode()}", count=PAGE)
            unread, pending = unread + len(newer or ()), pending + int(group["pending"])
    return unread, pending


async def read_groups(redis: Redis, stream: str) -> list[dict[str, Any]]:
    try:
        groups: list[dict[str, Any]] = await redis.xinfo_groups(stream)
    except ResponseError:
        return []
    return groups


async def read_stream(redis: Redis, stream: str) -> dict[str, Any] | None:
    """Returns what Redis knows of a stream; None if nothing was ever added to it."""
    try:
        info: dict[str, Any] = await redis.xinfo_stream(stream)
    except ResponseError:
        return None
    return info


async def count_jobs(redis: Redis) -> int:
    """Returns how many forgettings and compactions wait, run, or are to be tried again."""
    total = 0
    for queue in (FORGETTING, COMPACTION):
        total += await cast("Any", redis.llen(f"rq:queue:{queue}"))
        total += await cast("Any", redis.llen(f"rq:queue:{queue}:intermediate"))
        total += sum([await redis.zcard(f"rq:{registry}:{queue}") for registry in ("wip", "scheduled")])
    return total


async def read_given_up(redis: Redis) -> list[str]:
    found: list[str] = []
    for queue in (FORGETTING, COMPACTION):
        failed = cast("list[bytes]", await redis.zrange(f"rq:failed:{queue}", 0, -1))
        found += [job_id.decode() for job_id in failed]
    return found


async def read_erasures(redis_url: str) -> list[Erasure]:
    """Reads every forgetting that was ever queued; their records are kept for months."""
    with await asyncio.to_thread(open_connection, redis_url) as connection:
        found: list[Erasure] = []
        for status in (*UNFINISHED, "failed", "finished"):
            for job in await list_jobs(connection, EVERY_TENANT, FORGETTING, status, MOST_JOBS):
                detail = await show_job(connection, EVERY_TENANT, job.job_id)
                receipt = detail.result if detail else None
                verified = isinstance(receipt, dict) and receipt.get("verified") is True
                found.append(make_erasure(job.job_id, job.args, status, verified=verified))
    return found


def make_erasure(job_id: str, args: Mapping[str, Any], status: str, *, verified: bool) -> Erasure:
    kind = TargetKind(args["kind"])
    names = args["events"] if kind is TargetKind.EVENT else [args["name"]]
    targets = tuple(Target(args["tenant"], kind, args["user"], name) for name in names)
    return Erasure(job_id, targets, int(args["before"]), status, verified)


async def read_receipts(redis: Redis) -> dict[Name, Fields]:
    names = [name async for name in redis.scan_iter(keys.matching("receipt", None, None), count=PAGE)]
    async with redis.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.hgetall(name)
        hashes = await pipe.execute()
    parts = [keys.parts_of(name) for name in names]
    return {(tenant, event): text_of(fields) for (tenant, event), fields in zip(parts, hashes, strict=True)}


async def read_tails(redis: Redis) -> list[Kept]:
    """Returns the turns of every tail, each tail in its order."""
    found: list[Kept] = []
    async for key in redis.scan_iter(keys.matching("tail", None, None, None, None), count=PAGE):
        for raw in await cast("Any", redis.lrange(key, 0, -1)):
            seq, _, envelope = raw.partition(b" ")
            found.append(make_kept("tail", decode_event(envelope, int(seq))))
    return found


async def read_streamed(redis: Redis) -> list[Kept]:
    """Returns what still lies in the streams of accepted and of stored events; poison cannot be read and is left out.

    Entries of the second carry ids of their own.
    """
    found: list[Kept] = []
    first = keys.turn_streams(PARTITIONS)
    for stream in (*first, *map(keys.stored, range(PARTITIONS))):
        for stream_id, fields in await read_entries(redis, stream):
            kept = read_kept(stream, fields, StreamId.parse(stream_id) if stream in first else None)
            found += [kept] if kept else []
    return found


async def read_letters(redis: Redis) -> list[Fields]:
    letters = [entry for p in range(PARTITIONS) for entry in await read_entries(redis, keys.dead(p))]
    return [fields for _, fields in letters]


def read_kept(where: str, fields: Fields, stream_id: StreamId | None) -> Kept | None:
    try:
        seq = int(fields["seq"]) if "seq" in fields else None
        return make_kept(where, decode_event(fields["event"].encode(), seq), stream_id)
    except (Invalid, KeyError, ValueError):
        return None


def make_kept(where: str, event: Event, stream_id: StreamId | None = None) -> Kept:
    facts = Facts(event.tenant, event.user, event.session, event.role, hash_of(event.text), event.source_ref)
    return Kept(where, (event.tenant, event.event_id), facts, find_marks(event.text), event.seq, stream_id)


async def read_entries(redis: Redis, stream: str) -> list[tuple[str, Fields]]:
    entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", await redis.xrange(stream))
    return [(stream_id.decode(), text_of(fields)) for stream_id, fields in entries]


async def read_immortal(redis: Redis) -> list[str]:
    """Returns keys that never expire and are not declared permanent."""
    names = [name async for name in redis.scan_iter(count=PAGE)]
    async with redis.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.ttl(name)
        ages = await pipe.execute()
    immortal = [name.decode() for name, ttl in zip(names, ages, strict=True) if ttl == -1]
    return [name for name in immortal if not is_declared(name)]


def is_declared(name: str) -> bool:
    return job_keys.is_permanent(name) or (name.startswith(keys.PREFIX) and keys.is_permanent(name))


def text_of(fields: Mapping[bytes, bytes]) -> Fields:
    return {name.decode(): value.decode() for name, value in fields.items()}
