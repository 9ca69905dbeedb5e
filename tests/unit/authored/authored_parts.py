"""What tests of authored documents share: the service on real parts, a store that fails on demand, sample texts."""

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, cast

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from lithify.authored import AuthoredDocuments, AuthoredReader, Origin, Reserve
from lithify.authored.documents import UNRESERVED
from lithify.embedding import Embedder
from lithify.errors import Unavailable
from lithify.events import TenantScope
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord

ACME = TenantScope("acme")
RIVAL = TenantScope("rival")
CORE = frozenset({"AGENTS.md", "souls.md"})
MOMENT = 1_700_000_000_000

IDENTITY = """---
hop_targets: [notes.md#000001, souls.md#000000]
---

# Harbour desk

You must stay polite.

> Prefer short answers.

- Greet first.
- Never share passwords.

The harbour was built in 1890.

```
make ship
```
"""

# One thread for all: a pool has no state that tests could share.
EXECUTOR: Executor = ThreadPoolExecutor(1, thread_name_prefix="authored-test")


def documents_on(
    store: VectorStore,
    redis: Redis,
    embedder: Embedder,
    core: frozenset[str] = CORE,
    reserve: Reserve = UNRESERVED,
) -> AuthoredDocuments:
    return AuthoredDocuments(store, embedder, LexicalAnalyser(), redis, EXECUTOR, lambda: MOMENT, core, reserve)


def on_store(documents: AuthoredDocuments, store: "FragileStore") -> AuthoredDocuments:
    return replace(documents, store=cast("VectorStore", store))


def reader_on(documents: AuthoredDocuments, core: frozenset[str] | None = None) -> AuthoredReader:
    family = documents.embedder.manifest.family
    return AuthoredReader(documents.store, documents.redis, documents.core if core is None else core, family)


async def put(documents: AuthoredDocuments, name: str, text: str, scope: TenantScope = ACME) -> bool:
    """Whether anything was written."""
    return (await documents.put(scope, name, text.encode(), Origin.API)).changed


async def rules_shown(reader: AuthoredReader, scope: TenantScope = ACME) -> tuple[list[str], list[str]]:
    """Texts of the hard and of the soft rules."""
    rules = await reader.rules(scope)
    return [rule.text for rule in rules.hard], [rule.text for rule in rules.soft]


async def stored(store: VectorStore, scope: TenantScope = ACME, vectors: tuple[str, ...] = ()) -> list[Record]:
    """All records of the tenant, by document and ordinal; a document's own text comes first."""
    page = await store.scroll(scope, COLLECTION, Where(), limit=1000, with_vectors=vectors)
    return sorted(page.records, key=lambda record: (record.payload["source_ref"], record.payload.get("seq", -1)))


async def stored_nodes(store: VectorStore, scope: TenantScope = ACME) -> list[MemoryRecord]:
    memories = [MemoryRecord.from_payload(record.payload) for record in await stored(store, scope)]
    return [memory for memory in memories if memory.seq is not None]


class FragileStore:
    """Counts what it is asked, fails the write with a given number once, and everything while it is away."""

    WRITES = ("upsert", "delete", "set_payload")

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self.fail_at: int | None = None
        self.away = False
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        wanted = getattr(self._store, name)

        async def asked(*args: Any, **kwargs: Any) -> Any:
            self.asked.append(name)
            if self.away or (name in self.WRITES and self.writes == self.fail_at):
                raise Unavailable("the store is away")
            return await wanted(*args, **kwargs)

        return asked

    @property
    def writes(self) -> int:
        return sum(name in self.WRITES for name in self.asked)


def lost_redis() -> Redis:
    """Nobody listens there."""
    return Redis(host="127.0.0.1", port=1, retry=Retry(NoBackoff(), 0))
