"""What the tests of docs memory are made of: holdings and a search on one engine, and an embedder that can break."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

from redis import Redis as BlockingRedis

from lithify.docs.document import CHUNK_KIND as CHUNK
from lithify.docs.holdings import Holdings
from lithify.docs.jobs import EMBED
from lithify.docs.query import DocQuery
from lithify.docs.search import DocResults, DocSearch
from lithify.docs.space import COLLECTION, Space
from lithify.docs.writing import DocChange
from lithify.embedding import Embedder, HashEmbedder, Vectors
from lithify.events import EVERY_TENANT, TenantScope
from lithify.jobs import JobContext
from lithify.librarian.vectors import VectorParts, embed_docs
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Record, VectorStore, Where
from lithify.store.reading import every_record

ACME = TenantScope("acme")
RIVAL = TenantScope("rival")
REPO = "harbour"
NOW_MS = 1_700_000_000_000  # 14 November 2023
ANALYSER = LexicalAnalyser()

TIDES = """\
---
title: Tides
date: 2023-10-15
---
Tide tables are printed once a year, on 3 March 2021 for the first time.

# Pumps

Pump P-17 failed with E_PUMP_204 after commit 9fceb02d0ae598e95dc970b74767f19372d61af8.
The fix is in `control/pumps/valve_guard.py`.

# Master

The harbour master signs every change of the tide tables.
"""


class Fragile(HashEmbedder):
    """Raises `failure` while it is set."""

    failure: Exception | None = None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.failure is not None:
            raise self.failure
        return super().embed_documents(texts)


@dataclass(slots=True)
class Desk:
    """Everything about the documents of a few tenants, called by the test at the moment it chooses."""

    store: VectorStore
    embedder: Fragile
    executor: ThreadPoolExecutor

    @property
    def holdings(self) -> Holdings:
        return Holdings(self.store, ANALYSER, self.executor, lambda: NOW_MS, Space.of(self.embedder))

    def search(self, embedder: Embedder | None) -> DocSearch:
        return DocSearch(self.store, ANALYSER, self.executor, Space.of(self.embedder), embedder)

    async def put(self, path: str, text: str, scope: TenantScope = ACME, **more: Any) -> DocChange:
        return await self.holdings.put(scope, REPO, path, text, **more)

    async def find(self, text: str, scope: TenantScope = ACME, **more: Any) -> DocResults:
        """With a patience that a busy machine cannot exhaust: a list given up for time would change the answer."""
        return await self.search(self.embedder).find(scope, DocQuery(text, **more), NOW_MS, deadline_s=60)

    async def embed(self) -> dict[str, int]:
        parts = VectorParts(self.store, self.embedder)
        context = JobContext("j1", EMBED, 1, parts, self.executor, cast("BlockingRedis", None))
        return cast("dict[str, int]", await embed_docs(context))

    async def records(self, *vectors: str) -> dict[str, Record]:
        """All of them, of all tenants, by id."""
        found = every_record(self.store, EVERY_TENANT, COLLECTION, Where(), vectors)
        return {record.id: record async for record in found}

    async def chunks(self) -> dict[str, Record]:
        """By reference."""
        records = (await self.records()).values()
        return {one.payload["record_ref"]: one for one in records if one.payload["kind"] == CHUNK}


async def open_desk(store: VectorStore, embedder: Fragile, executor: ThreadPoolExecutor) -> Desk:
    """With an empty collection; other tests may have left one of another model."""
    for spec in await store.collections():
        if spec.name == COLLECTION and spec != Space.of(embedder).spec:
            await store.drop(COLLECTION)
    await store.ensure(Space.of(embedder).spec)
    await store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    return Desk(store, embedder, executor)


def refs(found: DocResults) -> list[str]:
    return [hit.chunk.record_ref for hit in found.hits]
