"""What is really there after the storm, read from Redis, Qdrant and the archive."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast
from urllib.parse import unquote

import httpx
import numpy as np
import orjson
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from lithify.archive import ArchivedEvent, Findings, read_archive
from lithify.embedding.hash_embedder import HashEmbedder
from lithify.events.scope import DEFAULT_TENANT
from lithify.jobs import keys as job_keys
from lithify.memory.pieces import cut_pieces
from lithify.memory.vectors.tiers import mean_vector
from lithify.store.memory_record import COLLECTION, PIECE
from lithify.streams import keys
from tests.chaos.ledger import Facts, hash_of
from tests.chaos.system import PARTITIONS, System

PAGE: Final = 500
# Stored vectors are float32.
TOLERANCE: Final = 1e-5
# HashEmbedder has no prefix tiers: the full vector is all there is.
TIER: Final = "l3"
SENT: Final = ("tenant", "user", "session", "role")

Fields: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Point:
    """A turn, or one of the pieces of a long one, whose text is a part of the turn's."""

    event_id: str
    facts: Facts
    seq: int
    vector_fits: bool
    piece: int | None = None  # its number, of a piece
    pieces: tuple[str, ...] = ()  # of a long turn, the hashes of the pieces it is to have


@dataclass(frozen=True, slots=True)
class Archived:
    event_id: str
    facts: Facts
    place: tuple[str, int]


@dataclass(frozen=True, slots=True)
class Observation:
    points: list[Point]
    receipts: dict[str, Fields]
    archived: list[Archived] | None  # None where nothing is archived
    damage: list[str]
    letters: list[Fields]
    entries: int
    trimmed: int
    unread: int
    pending: int
    immortal_keys: list[str]


async def observe(system: System) -> Observation:
    redis = system.redis
    streams = [await redis.xinfo_stream(keys.turns(partition)) for partition in range(PARTITIONS)]
    entries = sum(int(stream["entries-added"]) for stream in streams)
    unread, pending = await backlog(redis)
    archived, damage = await asyncio.to_thread(read_archived, system.archive)
    return Observation(
        points=[point async for point in read_points(system.qdrant.url)],
        receipts=await read_receipts(redis),
        archived=archived if system.archivers else None,
        damage=damage,
        letters=[letter for p in range(PARTITIONS) for letter in await read_entries(redis, keys.dead(p))],
        entries=entries,
        trimmed=entries - sum(int(stream["length"]) for stream in streams),
        unread=unread,
        pending=pending,
        immortal_keys=await read_immortal(redis),
    )


async def backlog(redis: Redis) -> tuple[int, int]:
    """Messages never delivered, and messages delivered but not acknowledged, over all groups."""
    unread = pending = 0
    for stream in map(keys.turns, range(PARTITIONS)):
        for group in await read_groups(redis, stream):
            newer = await redis.xrange(stream, min=f"({group['last-delivered-id'].decode()}")
            unread, pending = unread + len(newer or ()), pending + int(group["pending"])
    return unread, pending


async def read_groups(redis: Redis, stream: str) -> list[dict[str, Any]]:
    try:
        groups: list[dict[str, Any]] = await redis.xinfo_groups(stream)
    except ResponseError:
        return []
    return groups


async def read_points(url: str) -> AsyncIterator[Point]:
    request: dict[str, Any] = {"limit": PAGE, "with_payload": True, "with_vector": [TIER]}
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        while True:
            answer = await http.post(f"/collections/{COLLECTION}/points/scroll", json=request)
            page = orjson.loads(answer.raise_for_status().content)["result"]
            for point in points_of(page["points"]):
                yield point
            if page["next_page_offset"] is None:
                return
            request["offset"] = page["next_page_offset"]


def points_of(raw: list[dict[str, Any]]) -> Iterable[Point]:
    embedder = HashEmbedder()
    for point in raw:
        payload = point["payload"]
        stored = np.array(point["vector"].get(TIER, []))
        texts = [payload["text"]] if payload["kind"] == PIECE else cut_pieces(payload["text"])
        vectors = embedder.embed_documents(texts)
        vector = mean_vector(vectors) if len(texts) > 1 else vectors[0]
        facts = Facts(**{name: payload[name] for name in SENT}, text_hash=hash_of(payload["text"]))
        fits = stored.shape == vector.shape and bool(np.allclose(stored, vector, atol=TOLERANCE)) and bool(stored.any())
        pieces = tuple(map(hash_of, texts)) if len(texts) > 1 else ()
        yield Point(payload["event_id"], facts, payload["seq"], fits, payload.get("piece"), pieces)


def read_archived(folder: Path) -> tuple[list[Archived], list[str]]:
    """Every line there is, those of repeated work too; and what of the segments cannot be read."""
    findings = Findings()
    archived = [archived_of(line) for line in read_archive(folder, findings)] if folder.exists() else []
    return archived, [str(damage) for damage in findings.damage]


def archived_of(line: ArchivedEvent) -> Archived:
    event = line.event
    facts = Facts(event.tenant, event.user, event.session, event.role, hash_of(event.text))
    return Archived(event.event_id, facts, (str(line.stream_id), event.seq or 0))


async def read_receipts(redis: Redis) -> dict[str, Fields]:
    """By event id, which the key quotes."""
    prefix = keys.receipt(DEFAULT_TENANT, "")
    names = [name async for name in redis.scan_iter(f"{prefix}*", count=PAGE)]
    async with redis.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.hgetall(name)
        hashes = await pipe.execute()
    event_ids = [unquote(name.decode().removeprefix(prefix)) for name in names]
    return {event_id: text_of(fields) for event_id, fields in zip(event_ids, hashes, strict=True)}


async def read_entries(redis: Redis, stream: str) -> list[Fields]:
    entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", await redis.xrange(stream))
    return [text_of(fields) for _, fields in entries]


async def read_immortal(redis: Redis) -> list[str]:
    """Keys that never expire and are not declared permanent."""
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
