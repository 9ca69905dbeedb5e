"""What tests of docs memory share: a library and a search on real parts, a fragile embedder, files and texts."""

import subprocess
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from redis.asyncio import Redis

from lithify.docs import DocId, DocSearch, Found, Library, Origin, SourceKind, Space, Terms, Written
from lithify.docs.rows import CHUNK, COLLECTION
from lithify.docs.vectors import at_once, embed_missing
from lithify.embedding import Embedder
from lithify.embedding.hash_embedder import HashEmbedder
from lithify.events import EVERY_TENANT, TenantScope
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Record, VectorStore, Where
from lithify.store.scrolling import every_record

ACME = TenantScope("acme")
RIVAL = TenantScope("rival")
MOMENT = 1_700_000_000_000  # 2023-11-14
OPERATOR = Origin()
WEB = Origin(SourceKind.WEB)

TIDES = """---
date: 2023-10-15
---
# Tide tables

Printed twice a year.

## Pumps

Pump P-17 failed with error E_PUMP_204 in commit 9fceb02d0ae598e95dc970b74767f19372d61af8.

## Contacts

Call the harbour master.
"""


def executor_of() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(2)


class Fragile(HashEmbedder):
    """The hash embedder, which may be told to fail."""

    failure: Exception | None = None

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        if self.failure is not None:
            raise self.failure
        return super().embed_documents(texts)


@dataclass(slots=True)
class Desk:
    """A library with its search, as one process has them."""

    store: VectorStore
    redis: Redis
    embedder: Embedder
    analyser: LexicalAnalyser = field(default_factory=LexicalAnalyser)
    executor: ThreadPoolExecutor = field(default_factory=executor_of)
    now: int = MOMENT
    library: Library = field(init=False)

    def __post_init__(self) -> None:
        space = Space.of(self.embedder)
        self.library = Library(self.store, self.analyser, self.redis, self.executor, lambda: self.now, space)

    def search(self, *, embedder: Embedder | None = None) -> DocSearch:
        return DocSearch(self.store, self.analyser, self.executor, self.library.space, embedder)

    async def put(self, path: str, text: str, origin: Origin = OPERATOR, scope: TenantScope = ACME) -> Written:
        return await self.library.put(scope, DocId("harbour", path), text.encode(), origin)

    async def delete(self, path: str) -> bool:
        return await self.library.delete(ACME, DocId("harbour", path))

    async def embed(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        async for page in embed_missing(self.store, EVERY_TENANT, self.embedder, at_once):
            counts += page
        return counts

    async def find(self, query: str, scope: TenantScope = ACME, **terms: Any) -> Found:
        return await self.search(embedder=self.embedder).find(scope, query, Terms(**terms), self.now)

    async def points(self, *vectors: str) -> dict[str, Record]:
        """All that is stored, by id."""
        everything = Where().present("tenant")
        return {one.id: one async for one in every_record(self.store, EVERY_TENANT, COLLECTION, everything, vectors)}

    async def chunk_ids(self) -> list[str]:
        points = (await self.points()).values()
        return sorted(one.payload["chunk_id"] for one in points if one.payload["kind"] == CHUNK)


async def open_desk(store: VectorStore, redis: Redis, embedder: Embedder) -> Desk:
    """On an empty collection `docs`."""
    desk = Desk(store, redis, embedder)
    await store.ensure(desk.library.space.spec)
    await store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    return desk


def refs(found: Found) -> list[str]:
    return [one.ref for one in found.answer]


def write(root: Path, name: str, text: str = "# Title\n") -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, "utf-8")


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path) -> str:
    """Everything there is, in a new commit."""
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")
    return git(folder, "rev-parse", "HEAD")
