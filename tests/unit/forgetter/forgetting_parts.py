"""What the forgetting tests are made of: users who said something, in every place that keeps it."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import orjson
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.archive import Findings, SegmentWriter, read_archive
from lithify.archiver.worker import make_line
from lithify.embedder.worker import EmbeddingWorker
from lithify.embedding import Embedder
from lithify.events import EVERY_TENANT, Event, system_clock
from lithify.forgetter.job import Forgetter, forget
from lithify.forgetting import JOB, Target, TargetKind, read_present_moment
from lithify.jobs import JobContext, open_connection
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.store.reading import every_record
from lithify.streams import Delivery, Producer, keys
from lithify.streams.delivery import decode_all
from lithify.streams.member import Member
from lithify.traces import RedisTraces

PARTITIONS: Final = 2
GROUPS: Final = {"embed": keys.turns, "archive": keys.turns, "gate": keys.stored}
WORDS: Final = "The safe opens with 4711"


def spoken(event_id: str, user: str = "u1", session: str = "s1", text: str = WORDS, **more: Any) -> Event:
    made = Event(event_id, "acme", user, session, "user", text, ts=1_000)
    return replace(made, **more)


def of_user(user: str) -> Target:
    return Target("acme", TargetKind.USER, user)


def of_session(user: str, session: str) -> Target:
    return Target("acme", TargetKind.SESSION, user, session)


def of_source(name: str, user: str | None = None) -> Target:
    return Target("acme", TargetKind.SOURCE, user, name)


@dataclass
class World:
    """A small system whose workers work when the test says so."""

    store: VectorStore
    redis: Redis
    embedder: Embedder
    connection: BlockingRedis
    archive: Path
    executor: ThreadPoolExecutor
    writer: SegmentWriter
    analyser: LexicalAnalyser = field(default_factory=LexicalAnalyser)

    async def accept(self, *events: Event) -> None:
        given = await Producer(self.redis, PARTITIONS, system_clock).accept([(event, "digest") for event in events])
        assert {one.status for one in given} == {"accepted"}

    async def told(self, *events: Event) -> None:
        """Accepted, archived and embedded, as if all workers had kept up."""
        await self.accept(*events)
        await self.work()

    async def work(self) -> None:
        await self._consumed("archive", self.archived)
        await self._consumed("embed", self.embedding().handle)

    async def archived(self, deliveries: Sequence[Delivery]) -> None:
        self.writer.append([make_line(delivery) for delivery in deliveries])

    async def _consumed(self, group: str, handle: Any) -> None:
        member = self.member(group)
        if deliveries := await self.taken(group):
            await handle(deliveries)
        for delivery in deliveries:
            await member.acknowledge(delivery.entry.stream, [delivery.stream_id])

    async def taken(self, group: str) -> list[Delivery]:
        """Read and not acknowledged, as by a worker that is still busy."""
        member = self.member(group)
        await member.join()
        return decode_all(await member.read(100, 10))[0]

    def member(self, group: str) -> Member:
        streams = [GROUPS[group](partition) for partition in range(PARTITIONS)]
        return Member(self.redis, streams, group, f"{group}-0")

    def embedding(self, store: VectorStore | None = None) -> EmbeddingWorker:
        return EmbeddingWorker(
            store or self.store, self.embedder, self.analyser, self.redis, self.executor, system_clock
        )

    async def now(self) -> int:
        """A moment such that everything accepted from here on came later."""
        moment = await read_present_moment(self.redis, PARTITIONS)
        while await read_present_moment(self.redis, PARTITIONS) == moment:
            pass
        return moment

    async def forget(self, target: Target, before: int | None = None, **changes: Any) -> dict[str, Any]:
        """Run the job once; `changes` are of its parts."""
        context = JobContext(JOB, JOB, 1, replace(self.parts(), **changes), self.executor, self.connection)
        moment = await self.now() if before is None else before
        result = await forget(context, **target.arguments(), before=moment)  # type: ignore[arg-type]  # as JSON
        assert isinstance(result, dict)
        return result

    def parts(self) -> Forgetter:
        traces = RedisTraces(self.redis)
        return Forgetter(self.store, self.redis, PARTITIONS, self.archive, lambda: 99_000, traces, self.seal)

    async def seal(self) -> None:
        self.writer.seal()

    async def records(self, **equal: str | bool) -> list[Record]:
        where = Where()
        for name, value in equal.items():
            where = where.equals(name, value)
        return [record async for record in every_record(self.store, EVERY_TENANT, COLLECTION, where)]

    async def payloads(self, **equal: str | bool) -> dict[str, Mapping[str, Any]]:
        return {record.id: record.payload for record in await self.records(**equal)}

    async def stored(self) -> set[str]:
        return {record.payload["event_id"] for record in await self.records(kind="turn")}

    async def in_redis(self) -> dict[str, bytes]:
        """Everything Redis holds by key, as bytes to be searched."""
        return {name.decode(): await self._dumped(name) async for name in self.redis.scan_iter()}

    async def _dumped(self, name: bytes) -> bytes:
        redis: Any = self.redis
        match await redis.type(name):
            case b"string":
                return bytes(await redis.get(name))
            case b"list":
                return b" ".join(await redis.lrange(name, 0, -1))
            case b"hash":
                return b" ".join(value for pair in (await redis.hgetall(name)).items() for value in pair)
            case b"zset":
                return b" ".join(await redis.zrange(name, 0, -1))
            case b"stream":
                return b" ".join(value for _, fields in await redis.xrange(name) for value in fields.values())
        return b""

    async def says(self, text: str) -> set[str]:
        """The keys that hold the text."""
        return {name for name, value in (await self.in_redis()).items() if text.encode() in value}

    def in_archive(self) -> list[str]:
        return sorted(archived.event.event_id for archived in read_archive(self.archive, Findings()))

    async def trace(self, trace_id: str, user: str | None, now: int = 0) -> None:
        value = orjson.dumps({"request": {"user": user}, "query": WORDS, "now": now})
        await self.redis.set(keys.trace("acme", trace_id), value, ex=60)


@contextmanager
def world_on(store: VectorStore, redis: Redis, redis_url: str, embedder: Embedder, folder: Path) -> Iterator[World]:
    with open_connection(redis_url) as connection, ThreadPoolExecutor(1) as executor:
        writer = SegmentWriter.open(folder, "w", system_clock)
        yield World(store, redis, embedder, connection, folder, executor, writer)
        writer.close()
