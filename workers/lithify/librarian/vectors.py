"""The jobs that embed chunks: documents are stored without waiting for the model, and found by their words so far."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from pydantic import JsonValue

from lithify.docs.space import COLLECTION
from lithify.embedding import Embedder
from lithify.events import EVERY_TENANT
from lithify.indexing import embed_each, text_to_embed
from lithify.jobs import JobContext
from lithify.memory.vectors.tiers import MISSING_TIERS
from lithify.store import Record, VectorStore, Where
from lithify.streams import crash_point

# One call of the model; small enough that a killed job repeats little.
PAGE: Final = 64
OUTCOMES: Final = ("embedded", "remaining")


@dataclass(frozen=True, slots=True)
class VectorParts:
    store: VectorStore
    embedder: Embedder


async def embed_docs(context: JobContext[VectorParts]) -> JsonValue:
    """Embeds the marked chunks of all tenants; counts those `embedded` and those `remaining` for next time.

    Idempotent: the marks of the chunks themselves say what is left, so a killed run needs no checkpoint, nor one that
    has to end.
    """
    counts: Counter[str] = Counter()
    after: str | None = None
    while True:
        page = await context.parts.store.scroll(
            EVERY_TENANT, COLLECTION, Where().present(MISSING_TIERS), limit=PAGE, after=after
        )
        if page.records:
            counts += await embed_page(context, page.records)
        if page.next is None or context.ending():
            return {name: counts[name] for name in OUTCOMES}
        after = page.next


async def catch_up(context: JobContext[VectorParts]) -> JsonValue:
    """Embeds in passes until one embeds nothing: the job that follows a sync.

    A sync writes behind a pass that has begun, and while the job runs it cannot be asked for again. A process that
    stops leaves the rest to the schedule. Counts what was `embedded` and what the last pass left `remaining`.
    """
    embedded = 0
    while True:
        counts: Counter[str] = Counter(cast("Mapping[str, int]", await embed_docs(context)))
        embedded += counts["embedded"]
        if not counts["embedded"] or context.ending():
            return {"embedded": embedded, "remaining": counts["remaining"]}


async def embed_page(context: JobContext[VectorParts], records: Sequence[Record]) -> Counter[str]:
    """Writes vectors first: dying in between leaves the marks, and the next run does the same again."""
    texts = [text_to_embed(record.payload) or "" for record in records]
    made = await context.offload(embed_each, texts, context.parts.embedder)
    done = [(record, one.vectors) for record, one in zip(records, made, strict=True) if one.vectors]
    if done:
        store = context.parts.store
        await store.set_vectors(EVERY_TENANT, COLLECTION, {record.id: vectors for record, vectors in done})
        crash_point("embed_docs_written")
        embedded = with_same_text([record for record, _ in done])
        await store.set_payload(EVERY_TENANT, COLLECTION, embedded, {MISSING_TIERS: []})
    return Counter(embedded=len(done), remaining=len(records) - len(done))


def with_same_text(records: Sequence[Record]) -> Where:
    """Selects the records that still are as they were read.

    A chunk that was rewritten while its former text was embedded has another hash, and keeps its mark.
    """
    hashes = {record.payload["content_hash"] for record in records}
    return Where().ids(record.id for record in records).any_of("content_hash", hashes)
