"""Marks of what was forgotten, for workers that still hold such an event: they must not bring it back."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from redis.asyncio import Redis

from lithify.events import Event, encode_event
from lithify.forgetting.target import Target, tombstones_of
from lithify.streams import keys, script
from lithify.streams.outage import outages
from lithify.streams.progress import StreamId


class LastAcceptance(NamedTuple):
    """Says when an event id was accepted last, in ms of Redis's clock, and at which position of its session."""

    ms: int
    seq: int


async def read_acceptances(redis: Redis, tenant: str, event_ids: Iterable[str]) -> dict[str, LastAcceptance]:
    """Reads from the receipts of events when each was accepted last; those without a receipt are left out.

    Raises Unavailable if Redis did not answer.
    """
    names = list(dict.fromkeys(event_ids))
    async with redis.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.hmget(keys.receipt(tenant, name), "stream_id", "seq")
        with outages():
            replies: list[list[bytes | None]] = await pipe.execute()
    return {
        name: LastAcceptance(StreamId.parse(stream_id).ms, int(seq or 0))
        for name, (stream_id, seq) in zip(names, replies, strict=True)
        if stream_id
    }


async def find_accepted_later(redis: Redis, tenant: str, event_ids: Iterable[str], before_ms: int) -> set[str]:
    """Returns those of the events that were accepted after that moment, by Redis's own clock.

    This is for what does not say itself when it was accepted: tails, and what older releases wrote. An event without a
    receipt is an old one, or one whose receipt was forgotten already: receipts are kept for a day at least, which is
    longer than a forgetting may take. Raises Unavailable if Redis did not answer.
    """
    accepted = await read_acceptances(redis, tenant, event_ids)
    return {name for name, last in accepted.items() if last.ms > before_ms}


# Longer than a forgetting may take (`request.LONGEST_MS`) and shorter than the shortest life of a receipt, a day: a
# later event of the same user whose receipt had expired would be taken for a forgotten one.
KEPT_S: Final = 18 * 3_600


async def put_tombstones(redis: Redis, target: Target, before_ms: int) -> None:
    """Forbids the workers to store what was accepted up to that moment. Raises Unavailable if Redis did not answer."""
    names = target.tombstones()
    if not names:
        return
    key = keys.forgotten(target.tenant)
    async with redis.pipeline(transaction=True) as pipe:
        # GT: a forgetting that is repeated late must not take back a newer one.
        pipe.zadd(key, dict.fromkeys(names, before_ms), gt=True)
        pipe.zremrangebyscore(key, "-inf", before_ms - KEPT_S * 1000)
        pipe.expire(key, KEPT_S)
        with outages():
            await pipe.execute()


async def are_forgotten(redis: Redis, events: Sequence[Event]) -> list[bool]:
    """Tells for each event whether it was forgotten since it was accepted; one round trip where nothing was.

    Raises Unavailable if Redis did not answer.
    """
    by_tenant: defaultdict[str, list[int]] = defaultdict(list)
    for place, event in enumerate(events):
        by_tenant[event.tenant].append(place)
    forgotten = [False] * len(events)
    for tenant, places in by_tenant.items():
        moments = await _read_moments(redis, tenant, [events[place] for place in places])
        for place, moment in zip(places, moments, strict=True):
            if moment is not None:
                forgotten[place] = await _is_forgotten(redis, events[place], moment)
    return forgotten


async def _is_forgotten(redis: Redis, event: Event, moment: int) -> bool:
    if event.accepted is not None:
        return event.accepted <= moment
    return not await find_accepted_later(redis, event.tenant, [event.event_id], moment)


async def _read_moments(redis: Redis, tenant: str, events: Sequence[Event]) -> list[int | None]:
    """Returns the newest moment up to which each event is covered by a tombstone."""
    wanted = [tombstones_of(event) for event in events]
    names = list(dict.fromkeys(name for group in wanted for name in group))
    with outages():
        scores = await redis.zmscore(keys.forgotten(tenant), names)
    known = {name: int(score) for name, score in zip(names, scores, strict=True) if score is not None}
    return [max((known[name] for name in group if name in known), default=None) for group in wanted]


async def announce_again(redis: Redis, partitions: int, events: Iterable[Event]) -> None:
    """Passes stored events on to the workers once more, save for those that were forgotten since they were read.

    An event that does not say when it was accepted counts as older than any forgetting: nothing but its receipt could
    tell, and the gate has looked at it before. Raises Unavailable if Redis did not answer; may be repeated.
    """
    for event in events:
        partition = keys.partition_of(event.tenant, event.session, partitions)
        names = tombstones_of(event)
        args: list[str | bytes | int] = [event.accepted or 0, len(names), *names, "event", encode_event(event)]
        with outages():
            await script.load("announce").run(redis, [keys.stored(partition), keys.forgotten(event.tenant)], args)
