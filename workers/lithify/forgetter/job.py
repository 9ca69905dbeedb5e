"""The job that forgets: clears every place, looks again, and returns the receipt."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog
from pydantic import JsonValue
from redis.asyncio import Redis

from lithify.errors import Invalid, Unavailable
from lithify.events import Clock
from lithify.forgetter.backlog import Backlog
from lithify.forgetter.case import Case
from lithify.forgetter.compactions import Compactions
from lithify.forgetter.letters import Letters
from lithify.forgetter.place import Place
from lithify.forgetter.records import Records
from lithify.forgetter.segments import Seal, Segments
from lithify.forgetter.sessions import Sessions
from lithify.forgetter.traces import Traces
from lithify.forgetting import Target, present_moment, put_tombstones
from lithify.forgetting.request import LONGEST_MS
from lithify.jobs import JobContext
from lithify.store import VectorStore
from lithify.streams import DeadLetters, crash_point

# A worker that was slow to finish may leave something behind the first time, never the second.
ROUNDS = 3

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Forgetter:
    """What the job works with. It runs where the archive lies; `seal` is that of the archive worker beside it."""

    store: VectorStore
    redis: Redis
    partitions: int
    archive: Path
    clock: Clock
    seal: Seal | None = None

    def places(self) -> Sequence[Place]:
        """In their order: what a worker or a rebuild could bring back is cleared before what they would bring it to."""
        return (
            Sessions(self.redis, self.partitions),
            Backlog(self.redis, self.partitions),
            Segments(self.archive, self.seal),
            Letters(DeadLetters(self.redis, self.partitions, self.clock)),
            Records(self.store, self.redis, self.archive),
            Traces(self.redis),
        )


async def forget(
    context: JobContext[Forgetter],
    *,
    tenant: str,
    kind: str,
    user: str | None,
    name: str,
    events: list[JsonValue],
    before: int,
) -> JsonValue:
    """Everything of the target that was accepted up to `before` is gone on return, and that was checked.

    May be repeated as a whole, and is after a crash. Raises Unavailable while something prevents it, Invalid for a
    request that is too old to tell what came after it.
    """
    given = {"tenant": tenant, "kind": kind, "user": user, "name": name, "events": events}
    parts = context.parts
    case = Case(Target.of_arguments(given), before, parts.redis)
    await refuse_stale(parts, before)
    await put_tombstones(parts.redis, case.target, before)
    crash_point("forget_marked")
    removed = Counter(resumed(await context.resume()))
    for _ in range(ROUNDS):
        await clear(context, case, removed)
        await Compactions(context.connection).ended(case)
        left = await still_there(parts.places(), case)
        if not left:
            log.info("forgotten", kind=kind, removed=removed.total())
            return receipt(case, removed, parts.clock())
    raise Unavailable(f"something still brings back what was forgotten: {left}")


async def refuse_stale(parts: Forgetter, before_ms: int) -> None:
    age_ms = await present_moment(parts.redis, parts.partitions) - before_ms
    if age_ms > LONGEST_MS:
        raise Invalid(f"this was asked for {age_ms // 3_600_000} hours ago and would take newer turns along; ask again")


async def clear(context: JobContext[Forgetter], case: Case, removed: Counter[str]) -> None:
    for place in context.parts.places():
        removed[place.name] += await place.clear(case)
        await context.checkpoint(dict(removed))
        crash_point(f"forget_{place.name}")


async def still_there(places: Sequence[Place], case: Case) -> dict[str, int]:
    counted = {place.name: await place.left(case) for place in places}
    return {name: count for name, count in counted.items() if count}


def resumed(checkpoint: JsonValue) -> Mapping[str, int]:
    """What an earlier attempt had removed; nothing is skipped because of it."""
    match checkpoint:
        case None:
            return {}
        case dict(counts):
            return {name: count for name, count in counts.items() if isinstance(count, int)}
    raise Invalid(f"the checkpoint of a forgetting is not one of its own: {checkpoint!r}")


def receipt(case: Case, removed: Counter[str], now_ms: int) -> JsonValue:
    return {
        "target": case.target.arguments(),
        "before": case.before_ms,
        "removed": dict(removed),
        "verified": True,
        "at": now_ms,
    }
