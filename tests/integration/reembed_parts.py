"""What the re-embedding tests are made of: two models, records of every kind, and a process that dies when told to."""

from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from lithify.archive.carrying import pages
from lithify.embedder.records import make_records
from lithify.embedding import Embedder, HashEmbedder, Manifest, Vectors
from lithify.errors import Invalid
from lithify.events import EVERY_TENANT, Event
from lithify.indexing import embed_tiers, lexical_vector
from lithify.indexing.division import CUT_KINDS
from lithify.memory.compaction.summary import summary_id
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.node.parts import Model, collection_spec
from lithify.node.reembed import PREFIX, Reembed
from lithify.store import Record, VectorStore, point_id
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.store.records import join_parts
from tests.unit.embedder.backfill_parts import Died, plain

# Small, so that there are several batches.
BATCH = 8
BAD = "unspeakable"
ANALYSER = LexicalAnalyser()

Contents = dict[str, Any]


class NamedEmbedder(HashEmbedder):
    """A model of a family of its own, whose vectors are those of no other; it remembers what it embedded."""

    def __init__(self, family: str, dimensions: int = 32, tiers: tuple[int, ...] = (8, 16, 32)) -> None:
        super().__init__(dimensions, tiers)
        self._manifest = Manifest(name=family, model=family, dimensions=dimensions, tiers=tiers, max_tokens=512)
        self.texts: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if any(BAD in text for text in texts):
            raise Invalid("not a single token")
        self.texts += texts
        return super().embed_documents([f"{self._manifest.name} {text}" for text in texts])


def turns(count: int, start: int = 0) -> list[Event]:
    return [
        Event(f"e{n}", ("acme", "globex")[n % 2], f"u{n % 3}", f"s{n % 5}", "user", f"fact {n} of May", ts=n, seq=n)
        for n in range(start, start + count)
    ]


def turn_points(events: Sequence[Event], embedder: Embedder) -> list[Record]:
    return make_records(events, embedder, ANALYSER)


def derived_points(embedder: Embedder) -> list[Record]:
    """A memory, guidance, a summary that covers two turns, a document with a rule and a searched node, with links."""
    family = embedder.manifest.family
    covered = turn_points([replace(event, tenant="acme", user="u0", session="s0") for event in turns(2, 900)], embedder)
    sources = ("e900", "e901")
    summary = point_id("acme", "summary", join_parts("u0", summary_id("s0", sources)), family)
    retired = [replace(r, payload={**r.payload, "active": False, "compacted_into": summary}) for r in covered]
    node = point_id("acme", "authored", "RULES.md#000002", family)
    return [
        *retired,
        _searched(embedder, summary, "summary", "both facts", session="s0", source_ids=sources),
        _searched(embedder, point_id("acme", "memory", "e900", family), "memory", "a fact", event_id="e900"),
        _searched(embedder, point_id("acme", "guidance", "e901", family), "guidance", "advice", event_id="e901"),
        _bare("RULES.md", family, text="whole text", source_ref="RULES.md"),
        _bare("RULES.md#000001", family, text="never shout", source_ref="RULES.md", seq=1),
        _searched(
            embedder, node, "authored", "trams are yellow", source_ref="RULES.md", seq=2, hop_targets=(summary, node)
        ),
    ]


def _searched(embedder: Embedder, id_: str, kind: str, text: str, **more: Any) -> Record:
    memory = MemoryRecord("acme", "u0", kind, "user", text, ts=5, embedding=embedder.fingerprint, **more)
    [vectors] = embed_tiers([text], embedder)
    said_at = memory.ts if kind in CUT_KINDS else None
    return Record(id_, memory.payload(), vectors, lexical_vector(text, ANALYSER, said_at))


def _bare(key: str, family: str, **more: Any) -> Record:
    """Never searched, so without vectors."""
    memory = MemoryRecord(tenant="acme", user="", kind="authored", scope="global", ts=5, **more)
    return Record(point_id("acme", "authored", key, family), memory.payload())


def silent(stage: str, done: int, total: int) -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True)
class Move:
    """A store full of vectors of one model, and another model to move to."""

    store: VectorStore
    executor: ThreadPoolExecutor
    old: NamedEmbedder
    new: NamedEmbedder
    events: list[Event] = field(default_factory=lambda: turns(40))

    def reembed(self, embedder: Embedder | None = None) -> Reembed:
        model = Model(embedder or self.new, ANALYSER, self.executor)
        return Reembed(self.store, model, BATCH, 0.0, silent)

    async def fill(self) -> None:
        await self.store.ensure(collection_spec(self.old))
        await self.put([*turn_points(self.events, self.old), *derived_points(self.old)])

    async def put(self, records: Sequence[Record]) -> None:
        await self.store.upsert(EVERY_TENANT, COLLECTION, records)

    async def contents(self, collection: str = COLLECTION) -> Contents:
        found = pages(self.store, collection, vectors=True)
        return {record.id: plain(record) async for page in found for record in page}

    def made_by(self, embedder: Embedder, events: Sequence[Event] | None = None) -> Contents:
        """What the writers would have stored, had they always had this model."""
        points = [*turn_points(self.events if events is None else events, embedder), *derived_points(embedder)]
        return {record.id: plain(record) for record in points}

    async def die_at(self, point: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def crash_point(name: str) -> None:
            if name == point:
                raise Died

        with monkeypatch.context() as patch:
            patch.setattr("lithify.node.reembed.crash_point", crash_point)
            with pytest.raises(Died):
                await self.reembed().run()


@asynccontextmanager
async def moving(store: VectorStore, new: NamedEmbedder) -> AsyncIterator[Move]:
    """Leaves the store without our collections, whatever model they have."""
    await clear(store)
    with ThreadPoolExecutor(1) as executor:
        move = Move(store, executor, NamedEmbedder("old"), new)
        await move.fill()
        yield move
    await clear(store)


async def clear(store: VectorStore) -> None:
    for spec in await store.collections():
        if spec.name == COLLECTION or spec.name.startswith(PREFIX):
            await store.drop(spec.name)
