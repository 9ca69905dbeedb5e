"""The job that makes the vectors which could not be made when their records were stored (spec 03 §3)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import JsonValue
from redis.asyncio import Redis

from lithify.embedding import Embedder, Manifest
from lithify.errors import Invalid
from lithify.events import EVERY_TENANT, Clock, Event
from lithify.events.event import FIELDS
from lithify.forgetting import announce_again
from lithify.indexing import TextVectors, embed_each
from lithify.indexing.division import CUT_KINDS, embed_leniently, embed_wholes
from lithify.jobs import JobContext
from lithify.memory.vectors.cascade import Cascade, Restore, plan_backfill
from lithify.memory.vectors.tiers import FULL_TIER, MISSING_TIERS
from lithify.store import Record, Vector, VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams import Receipts, crash_point

JOB: Final = "backfill"
# One call of the model; small enough that a killed job repeats little.
PAGE: Final = 64
OUTCOMES: Final = ("restored", "embedded", "dropped", "remaining")


@dataclass(frozen=True, slots=True)
class BackfillParts:
    store: VectorStore
    embedder: Embedder
    redis: Redis
    partitions: int
    clock: Clock


@dataclass(slots=True)
class Repairs:
    """Holds what to write for some marked records; those in `tiers` and `cleared` lose their markers."""

    tiers: dict[str, Mapping[str, Vector]] = field(default_factory=dict)
    cleared: list[str] = field(default_factory=list)
    outcome: Counter[str] = field(default_factory=Counter)
    embedded: list[Record] = field(default_factory=list)


async def backfill(context: JobContext[BackfillParts]) -> JsonValue:
    """Makes the missing vectors; idempotent, and resumes behind the last page it finished.

    Returns counts: markers that were `restored` from the full vector or `dropped` because they never can be, and
    records that were `embedded` or are `remaining` for next time.
    """
    counts, after = read_checkpoint(await context.resume())
    while True:
        page = await context.parts.store.scroll(
            EVERY_TENANT, COLLECTION, Where().present(MISSING_TIERS), limit=PAGE, after=after, with_vectors=(FULL_TIER,)
        )
        repairs = await context.offload(plan_repairs, page.records, context.parts.embedder)
        await write_repairs(context.parts, repairs)
        counts += repairs.outcome
        if page.next is None:
            return {name: counts[name] for name in OUTCOMES}
        after = page.next
        await context.checkpoint({"after": after, "counts": dict(counts)})
        crash_point("backfill_page")


def read_checkpoint(checkpoint: JsonValue) -> tuple[Counter[str], str | None]:
    match checkpoint:
        case None:
            return Counter(), None
        case {"after": str(after), "counts": dict(counts)}:
            return Counter({name: count for name, count in counts.items() if isinstance(count, int)}), after
    raise Invalid(f"the checkpoint of {JOB} is not one of its own: {checkpoint!r}")


def plan_repairs(records: Sequence[Record], embedder: Embedder) -> Repairs:
    """Makes tiers from the full vector where there is one, else from the text: work for an executor."""
    repairs = Repairs()
    shape = tier_shape(embedder.manifest)
    bare = []
    for record in records:
        if FULL_TIER in record.vectors or not text_of(record):
            restore(record, shape, repairs)
        else:
            bare.append(record)
    for record, one in zip(bare, embed_records(bare, embedder), strict=True):
        repairs.outcome["embedded" if one.vectors else "remaining"] += 1
        if one.vectors:
            repairs.tiers[record.id] = one.vectors
            repairs.embedded.append(record)
    return repairs


def embed_records(records: Sequence[Record], embedder: Embedder) -> list[TextVectors]:
    """Embeds what was said by its pieces, as when it was stored; the pieces have markers of their own."""
    embed = embed_leniently(embedder)
    said = [record for record in records if record.payload.get("kind") in CUT_KINDS]
    made = dict(
        zip((r.id for r in said), embed_wholes(list(map(text_of, said)), embed, embedder.manifest), strict=True)
    )
    others = [record for record in records if record.id not in made]
    made |= zip((r.id for r in others), embed_each(list(map(text_of, others)), embedder), strict=True)
    return [made[record.id] for record in records]


def restore(record: Record, shape: Cascade, repairs: Repairs) -> None:
    full = record.vectors.get(FULL_TIER)
    has_metadata = bool(text_of(record))
    plans = [plan_backfill(shape, marker, full, has_metadata=has_metadata) for marker in markers_of(record)]
    tiers = {plan.tier: plan.vector for plan in plans if isinstance(plan, Restore)}
    if tiers:
        repairs.tiers[record.id] = tiers
    else:
        repairs.cleared.append(record.id)
    repairs.outcome["restored"] += len(tiers)
    repairs.outcome["dropped"] += len(plans) - len(tiers)


def markers_of(record: Record) -> list[object]:
    """Returns the tiers a record lacks by its markers.

    A full vector that is there after all was written by a run that died before it removed the marker.
    """
    marked = record.payload[MISSING_TIERS]
    markers = marked if isinstance(marked, list) else [marked]
    return [marker for marker in markers if marker != FULL_TIER or FULL_TIER not in record.vectors]


def tier_shape(manifest: Manifest) -> Cascade:
    """Returns the sizes of the tiers; thresholds play no part in repairs."""
    dims = manifest.tiers or (manifest.dimensions,)
    return Cascade(dims, (1.0,) * (len(dims) - 1))


def text_of(record: Record) -> str:
    return str(record.payload.get("text") or "")


async def write_repairs(parts: BackfillParts, repairs: Repairs) -> None:
    """Writes the vectors first: dying in between leaves the markers, and the next run does the same again."""
    await parts.store.set_vectors(EVERY_TENANT, COLLECTION, repairs.tiers)
    crash_point("backfill_written")
    if repaired := [*repairs.tiers, *repairs.cleared]:
        await parts.store.set_payload(EVERY_TENANT, COLLECTION, Where().ids(repaired), {MISSING_TIERS: []})
    turns = [record for record in repairs.embedded if record.payload.get("kind") == "turn"]
    # The error of the first attempt is history.
    fields: Mapping[str, str | int] = {"error": "", "backfilled_at": parts.clock()}
    await Receipts(parts.redis).mark_all((turn.payload["tenant"], turn.payload["event_id"], fields) for turn in turns)
    # The gate has passed over them.
    await announce_again(parts.redis, parts.partitions, map(event_of, turns))


def event_of(turn: Record) -> Event:
    known: dict[str, Any] = {name: turn.payload.get(name) for name in FIELDS}
    return Event(**known)
