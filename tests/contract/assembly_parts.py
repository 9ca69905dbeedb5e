"""An assembly service on real parts, with a store and a Redis the test may slow down, break and look at."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from redis.asyncio import Redis

from lithify.assembly.library.memories import Memories
from lithify.assembly.prompt.builder import ContextBuilder
from lithify.assembly.prompt.token_counter import ESTIMATOR, PromptCounter
from lithify.assembly.recall.retrieval import Retriever
from lithify.assembly.schema import AssembleRequest, AssembleResponse
from lithify.assembly.service import AssemblyService
from lithify.assembly.traces import TraceBook
from lithify.authored import AuthoredReader
from lithify.embedding.hash_embedder import HashEmbedder
from lithify.errors import Unavailable
from lithify.events import EVERY_TENANT, Event, TenantScope
from lithify.events.scope import DEFAULT_TENANT
from lithify.indexing import embed_tiers, lexical_vector
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.ranking.helpfulness import WORDS_CALIBRATION
from lithify.memory.ranking.profile import RECALL, SEED, Profile
from lithify.store import LEXICAL, Record, VectorStore, point_id
from lithify.store.memory_record import COLLECTION, MemoryRecord, position_of
from lithify.streams import Producer, Retention
from lithify.traces import RedisTraces

NOW = 1_700_000_000_000
CALLER = TenantScope(DEFAULT_TENANT)
RECALLING, SEEDED = RECALL.normalise(), SEED.normalise()
PARTITIONS = 2
TAIL_TURNS = 64


class Watched:
    """Passes calls on to a store, remembers them, and may be told to hang or to fail."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self.calls: list[tuple[str, Any]] = []
        self.failure: BaseException | None = None
        self.hangs = False

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.append((name, args))
            if self.hangs:
                await asyncio.Event().wait()
            if self.failure is not None:
                raise self.failure
            return await getattr(self._store, name)(*args, **kwargs)

        return call


class Moody(HashEmbedder):
    """The hash embedder, which may be told to fail."""

    failure: Exception | None = None

    def embed_query(self, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        if self.failure is not None:
            raise self.failure
        return super().embed_query(text)


@dataclass(slots=True)
class Scene:
    store: Watched
    redis: Redis
    embedder: Moody
    profile: Profile = RECALLING
    rules: AuthoredReader | None = None
    counter: PromptCounter = ESTIMATOR
    executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2))
    analyser: LexicalAnalyser = field(default_factory=LexicalAnalyser)
    now: int = NOW
    _service: AssemblyService | None = None

    @property
    def vectors(self) -> VectorStore:
        return cast("VectorStore", self.store)

    @property
    def service(self) -> AssemblyService:
        if self._service is None:
            retriever = Retriever(
                self.vectors, self.embedder, self.analyser, self.executor, calibration=WORDS_CALIBRATION
            )
            builder = ContextBuilder(
                retriever,
                self.redis,
                PARTITIONS,
                TAIL_TURNS,
                self.profile,
                rules=self.rules,
                counter=self.counter,
                check_invariants=True,
            )
            self._service = AssemblyService(builder, TraceBook(RedisTraces(self.redis)), lambda: self.now)
        return self._service

    @property
    def memories(self) -> Memories:
        return Memories(self.vectors, self.embedder, self.analyser, self.executor, self.redis, lambda: self.now)

    async def assemble(
        self, query: str | None = "cat", caller: TenantScope = CALLER, **fields: Any
    ) -> AssembleResponse:
        body = {"user": "ada", "session": "now", "query": query, "token_budget": 2000} | fields
        if self.profile.budget_fraction < 1:
            body["token_budget"] = int(body["token_budget"] / self.profile.budget_fraction)
        return await self.service.assemble(caller, AssembleRequest.model_validate(body))

    async def remember(self, text: str, key: str, **fields: Any) -> str:
        """Stores a record past the pipeline; a turn of ada's old session unless told otherwise. Returns its id."""
        known: dict[str, Any] = {
            "tenant": DEFAULT_TENANT,
            "user": "ada",
            "kind": "turn",
            "scope": "session",
            "session": "old",
            "role": "user",
            "ts": NOW - 1000,
            "event_id": key,
        }
        memory = MemoryRecord(text=text, **known | fields)
        if memory.kind == "turn" and memory.session is not None and memory.seq is not None:
            memory = replace(memory, position=position_of(memory.user, memory.session, memory.seq))
        record_id = point_id(memory.tenant, memory.kind, key, self.embedder.manifest.family)
        [vectors] = embed_tiers([text], self.embedder)
        record = Record(record_id, memory.payload(), vectors, lexical_vector(text, self.analyser))
        await self.store.upsert(EVERY_TENANT, COLLECTION, [record])
        return record_id

    async def say(self, text: str, key: str, session: str = "now", user: str = "ada", role: str = "user") -> None:
        """Accepts a turn as the gateway does: it stands in the tail, embedded or not."""
        producer = Producer(self.redis, PARTITIONS, lambda: self.now, Retention(tail_length=TAIL_TURNS))
        event = Event(key, DEFAULT_TENANT, user, session, role, text, self.now)
        await producer.accept([(event, key)])

    def searches(self) -> list[Any]:
        """By meaning; the search by words beside each of them is left out."""
        asked = [args[2] for name, args in self.store.calls if name == "query_batch"]
        return [queries for queries in asked if any(query.using != LEXICAL for query in queries)]


def open_scene(store: VectorStore, redis: Redis, **options: Any) -> Scene:
    return Scene(Watched(store), redis, Moody(32, (8, 16, 32)), **options)


def gone() -> Unavailable:
    return Unavailable("pulled out")


def recalled(answer: AssembleResponse) -> list[str]:
    """Event ids in the block of recalled memories."""
    return [e.event_id or "" for b in answer.blocks if b.name == "recalled_memories" for e in b.entries]
