"""When to accept no more: decided from how long and how much waits, and how full Redis is."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from redis.asyncio import Redis

from lithify.errors import RETRY_AFTER_S
from lithify.streams import script
from lithify.streams.outage import outages
from lithify.streams.progress import StreamId, count_unread


@dataclass(frozen=True, slots=True)
class Readings:
    """Figures of the group furthest behind; `unread` may say more, never less.

    `memory_share` is None without a maxmemory; `is_counted` says that entries were counted, which takes Redis's time.
    """

    oldest_unread_ms: int = 0
    unread: int = 0
    memory_share: float | None = None
    is_counted: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """High-water marks."""

    # Longer than a restart or a model change takes; what was said a quarter of an hour ago should be searchable.
    oldest_unread_s: float = 900.0
    # About 200 MB of turns of 1 KiB, and twenty minutes of work for one embedding process.
    unread: int = 200_000
    # The rest is for what must still be written to work off the backlog: receipts, dead letters, job records.
    memory_share: float = 0.9
    retry_after_s: int = RETRY_AFTER_S


@dataclass(frozen=True, slots=True)
class Pressure:
    reason: str
    retry_after_s: int


def pressure(readings: Readings, limits: Limits) -> Pressure | None:
    """Says why nothing more should be accepted; None while everything is below its mark."""
    age_s = readings.oldest_unread_ms / 1000
    if readings.memory_share is not None and readings.memory_share > limits.memory_share:
        reason = f"Redis uses {readings.memory_share:.0%} of its memory, more than {limits.memory_share:.0%}"
    elif readings.unread > limits.unread:
        reason = f"more than {limits.unread} events wait to be processed"
    elif age_s > limits.oldest_unread_s:
        reason = f"the oldest event waits for {age_s:.0f} s, longer than {limits.oldest_unread_s:g} s"
    else:
        return None
    return Pressure(reason, limits.retry_after_s)


class _Place(NamedTuple):
    """Says where a group stands on a stream, what it would read next, and the length of the stream."""

    stream: str
    position: StreamId
    following: StreamId | None
    length: int


async def read_pressure(
    redis: Redis, required: Mapping[str, Collection[str]], limits: Limits, counted: int | None = None
) -> Readings:
    """Reads the figures of streams, each with the groups that must read it.

    A group that was never there has read nothing.

    Cheap while little waits: entries are counted only where a stream is longer than the limit, and only up to it. With
    `counted`, the result of an earlier call is taken instead of counting. Raises Unavailable if Redis did not answer.
    """
    with outages():
        memory: dict[str, Any] = await redis.info("memory")
        seconds, micros = await redis.time()
        groups = await _read_places(redis, required)
        unread = max(map(_bound_unread, groups.values()), default=0)
        if is_long := unread > limits.unread:
            unread = await _count_most(redis, groups.values(), limits.unread) if counted is None else counted
    now_ms = seconds * 1000 + micros // 1000
    waiting = [place.following.ms for places in groups.values() for place in places if place.following]
    return Readings(
        oldest_unread_ms=max(0, now_ms - min(waiting, default=now_ms)),
        unread=unread,
        memory_share=memory["used_memory"] / memory["maxmemory"] if memory["maxmemory"] else None,
        is_counted=is_long and counted is None,
    )


async def _read_places(redis: Redis, required: Mapping[str, Collection[str]]) -> dict[str, list[_Place]]:
    """Reads the places by group, in one round trip however many streams there are."""
    pairs = [(stream, group) for stream, groups in required.items() for group in groups]
    reply = await script.load("backlog").run(redis, [stream for stream, _ in pairs], [group for _, group in pairs])
    found: defaultdict[str, list[_Place]] = defaultdict(list)
    for (stream, group), (position, following, length) in zip(pairs, reply, strict=True):
        upcoming = StreamId.parse(following) if following else None
        found[group].append(_Place(stream, StreamId.parse(position), upcoming, length))
    return found


def _bound_unread(places: Collection[_Place]) -> int:
    """Returns a number that the unread entries of one group do not exceed."""
    return sum(place.length for place in places if place.following)


async def _count_most(redis: Redis, groups: Iterable[Collection[_Place]], limit: int) -> int:
    """Counts the unread entries of the group that has most; a bound is enough for one that is below the limit."""
    most = 0
    for places in groups:
        bound = _bound_unread(places)
        most = max(most, bound if bound <= limit else await _count(redis, places, limit))
    return most


async def _count(redis: Redis, places: Collection[_Place], limit: int) -> int:
    total = 0
    for place in places:
        if total <= limit:
            total += (await count_unread(redis, place.stream, place.position, limit + 1 - total))[0]
    return total
