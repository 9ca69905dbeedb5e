"""What the compaction tests are made of: conversations, a session on a real store, and stores that misbehave."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.compaction import JOB, Cause, SessionKey
from lithify.compactor.job import Compactor, compact_session
from lithify.embedder.records import make_records
from lithify.embedding import Embedder
from lithify.events import Event
from lithify.jobs import JobContext, open_connection
from lithify.memory.compaction.draft import Abstractive
from lithify.memory.compaction.plan import CompactionPolicy
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.store.reading import every_record

KEY: Final = SessionKey("acme", "ada", "s1")
NOW: Final = 9_000_000
RULE: Final = "Never use tabs here."
ROLES: Final = ("user", "assistant")


def say(number: int, text: str, key: SessionKey = KEY, **more: Any) -> Event:
    """Turn `number` of an alternating chat; it may be told otherwise."""
    event = Event(
        event_id=f"{key.session}-{number:03}",
        tenant=key.tenant,
        user=key.user,
        session=key.session,
        role=ROLES[number % 2],
        text=text,
        ts=1_000 + number,
        seq=number,
    )
    return replace(event, **more)


def chat(turns: int, start: int = 0, key: SessionKey = KEY) -> list[Event]:
    """About one house, each turn with something of its own."""
    text = "The painters of the old house by the lake said that the wall of room{0} will be in colour{0} this summer."
    return [say(number, text.format(number), key) for number in range(start, start + turns)]


@dataclass
class Bench:
    """A session in a store, and the job that compacts it."""

    store: VectorStore
    redis: Redis
    embedder: Embedder
    connection: BlockingRedis
    executor: ThreadPoolExecutor
    key: SessionKey = KEY
    analyser: LexicalAnalyser = field(default_factory=LexicalAnalyser)
    tokens: int = 100
    target_size: int = 10
    abstractive: Abstractive | None = None

    async def tell(self, events: Sequence[Event]) -> None:
        for at in range(0, len(events), 64):
            records = make_records(events[at : at + 64], self.embedder, self.analyser)
            await self.store.upsert(self.key.scope, COLLECTION, records)

    async def run(self, cause: Cause = Cause.FORCE, **changes: Any) -> dict[str, Any]:
        """Compact the session once; `changes` are of the compactor's parts."""
        parts = replace(self.parts(), **changes)
        context = JobContext("job", JOB, 1, parts, self.executor, self.connection)
        key = self.key
        result = await compact_session(
            context, tenant=key.tenant, user=key.user, session=key.session, trigger=cause.value
        )
        assert isinstance(result, dict)
        return result

    def parts(self) -> Compactor:
        return Compactor(
            store=self.store,
            embedder=self.embedder,
            analyser=self.analyser,
            redis=self.redis,
            partitions=2,
            clock=lambda: NOW,
            tokens=self.tokens,
            policy=CompactionPolicy(self.target_size),
            abstractive=self.abstractive,
        )

    async def records(self, kind: str, with_vectors: Sequence[str] = (), /, **equal: str | bool) -> list[Record]:
        """Those of the session's user, by time."""
        where = Where().equals("kind", kind)
        for name, value in equal.items():
            where = where.equals(name, value)
        found = [r async for r in every_record(self.store, self.key.scope, COLLECTION, where, with_vectors)]
        return sorted(found, key=lambda record: (record.payload["ts"], record.id))

    async def memories(self, kind: str, **equal: str | bool) -> list[MemoryRecord]:
        return [MemoryRecord.from_payload(record.payload) for record in await self.records(kind, (), **equal)]

    async def active_turns(self) -> list[str | None]:
        return [memory.event_id for memory in await self.memories("turn", active=True)]

    async def covered(self) -> list[str]:
        return [source for summary in await self.memories("summary", active=True) for source in summary.source_ids]

    async def everything(self) -> list[tuple[str, dict[str, Any]]]:
        kinds = ("turn", "summary", "guidance")
        return [(record.id, dict(record.payload)) for kind in kinds for record in await self.records(kind)]

    async def change(self, event_id: str, **payload: Any) -> None:
        where = Where().equals("kind", "turn").equals("event_id", event_id)
        await self.store.set_payload(self.key.scope, COLLECTION, where, payload)


@contextmanager
def bench_on(store: VectorStore, redis: Redis, redis_url: str, embedder: Embedder) -> Iterator[Bench]:
    with open_connection(redis_url) as connection, ThreadPoolExecutor(1) as executor:
        yield Bench(store, redis, embedder, connection, executor)


Before = Callable[[str, Sequence[Any]], Awaitable[None]]


class Watched:
    """A store that tells of every call before it is made, so that a test may fail it or do something first."""

    def __init__(self, store: VectorStore, before: Before) -> None:
        self._store = store
        self._before = before

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def call(*args: Any, **options: Any) -> Any:
            await self._before(name, args)
            return await method(*args, **options)

        return call


def writes_summary(name: str, args: Sequence[Any]) -> bool:
    return name == "upsert" and any(record.payload["kind"] == "summary" for record in args[2])
