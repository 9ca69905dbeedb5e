"""`lithify bench assemble`: what a whole answer costs against its floor, the query's embedding and one raw search."""

import asyncio
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import filterfalse
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from redis.asyncio import Redis
from rich.table import Table

from lithify.assembly.prompt.builder import ContextBuilder
from lithify.assembly.recall.retrieval import Retriever
from lithify.assembly.schema import AssembleRequest
from lithify.assembly.service import AssemblyService
from lithify.assembly.traces import TraceBook
from lithify.cli.bench.corpus import TURNS_PER_SESSION, PeopleCorpus
from lithify.cli.bench.timing import measure_ms
from lithify.cli.console import data, emit_json, talk
from lithify.cli.progress import count_items
from lithify.embedding import Embedder, load_configured_embedder
from lithify.embedding.relevance_file import find_calibration
from lithify.events import EVERY_TENANT, Event, TenantScope, encode_event, system_clock
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.prompt.losses import is_loss
from lithify.memory.ranking.profile import RECALL
from lithify.memory.vectors.tiers import FULL_TIER, tier_vector
from lithify.node.redis_server import EmbeddedRedis
from lithify.node.runtime import run
from lithify.settings import Settings, load_settings
from lithify.store import LEXICAL, CollectionSpec, EdgeStore, Query, SparseVector, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.streams import keys, open_producer
from lithify.traces import RedisTraces

BATCH: Final = 256
ROUNDS: Final = 200
CROWDS: Final = (8, 32)
COLD: Final = 40
# Records that are read at once before the measurement.
PAGE: Final = 2_000
BUDGET: Final = 2_000
PARTITIONS: Final = 4
TAIL_TURNS: Final = 64
LIVE_TURNS: Final = 8
PROFILE: Final = RECALL.normalise()


@dataclass(frozen=True, slots=True)
class Timing:
    """Half and nineteen of twenty took at most so many milliseconds."""

    what: str
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class AssembleReport:
    """`ratio` is the median answer over the medians of embedding and raw search, measured between each other."""

    points: int
    fill_seconds: float
    parts: list[Timing]
    answers: list[Timing]
    ratio: float


@dataclass(frozen=True, slots=True)
class AssembleBench:
    """An assembly over a filled store, and the parts of it that are measured alone."""

    service: AssemblyService
    edge: EdgeStore
    embedder: Embedder
    analyser: LexicalAnalyser
    executor: ThreadPoolExecutor
    corpus: PeopleCorpus
    redis: Redis

    async def answer(self) -> None:
        scope, session = self.corpus.somebody()
        body = {"user": scope.user, "session": session, "query": self.corpus.question(), "token_budget": BUDGET}
        answer = await self.service.assemble(TenantScope(scope.tenant), AssembleRequest.model_validate(body))
        # A full budget is what is measured; anything else spoils the figure.
        for reason in filterfalse(is_loss, answer.degraded):
            talk.print(f"degraded: {reason}", markup=False)

    async def embed(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self.executor, self.embedder.embed_query, self.corpus.question())

    async def search(self, queries: list[Query]) -> None:
        scope, _ = self.corpus.somebody()
        await self.edge.query_batch(scope, COLLECTION, queries)

    def legs(self) -> list[Query]:
        """Returns both legs with whole payloads, for one batch."""
        text = self.corpus.question()
        where = Where().equals("active", True)
        dense = tier_vector(self.embedder.embed_query(text), self.embedder.manifest.dimensions)
        indices, values = self.analyser.query_vector(text)
        words = SparseVector(tuple(indices), tuple(values))
        depth = PROFILE.leg_depth(BUDGET)
        return [Query(where, FULL_TIER, dense, depth), Query(where, LEXICAL, words, depth)]


def assemble(
    points: Annotated[int, typer.Option(help="Memories in the store.", min=1_000)] = 10_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Latency of assembling 2,000 tokens for one of many users, alone and with 8 and 32 callers at once."""
    report = run(measure(points, load_settings()))
    if as_json:
        emit_json(asdict(report))
        return
    table = Table("what", "p50 ms", "p95 ms")
    for row in (*report.parts, *report.answers):
        table.add_row(row.what, f"{row.p50_ms:.2f}", f"{row.p95_ms:.2f}")
    data.print(table)
    data.print(f"{report.points:,} memories; an answer costs {report.ratio:.2f} x (embedding + one raw search)")


async def measure(points: int, settings: Settings, rounds: int = ROUNDS) -> AssembleReport:
    async with open_bench(points, settings) as bench:
        seconds = await fill(bench)
        cold = summarise("answer, nothing read before", [await measure_ms(bench.answer()) for _ in range(COLD)])
        await warm_up(bench.edge)
        parts, alone = await measure_floor_and_answers(bench, rounds)
        crowds = [await measure_crowd(bench, callers, max(4, rounds // callers)) for callers in CROWDS]
    embedding, searching = parts[0].p50_ms, parts[1].p50_ms
    ratio = round(alone.p50_ms / (embedding + searching), 2)
    return AssembleReport(
        points=points, fill_seconds=round(seconds, 1), parts=parts, answers=[alone, *crowds, cold], ratio=ratio
    )


@asynccontextmanager
async def open_bench(points: int, settings: Settings) -> AsyncIterator[AssembleBench]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lithify-bench-")))
        server = await stack.enter_async_context(EmbeddedRedis(folder / "redis"))
        redis = open_producer(server.url)
        stack.push_async_callback(redis.aclose)
        embedder = load_configured_embedder(settings, threads=1)
        edge = EdgeStore(folder / "vectors")
        stack.push_async_callback(edge.close)
        low, middle, full = embedder.manifest.tiers or (embedder.manifest.dimensions,) * 3
        await edge.ensure(CollectionSpec(COLLECTION, (low, middle, full), embedder.fingerprint))
        executor = stack.enter_context(ThreadPoolExecutor(2))
        corpus = PeopleCorpus(points, (low, middle, full), embedder.manifest.family)
        yield make_bench(edge, embedder, executor=executor, redis=redis, corpus=corpus)


def make_bench(
    edge: EdgeStore, embedder: Embedder, executor: ThreadPoolExecutor, redis: Redis, corpus: PeopleCorpus
) -> AssembleBench:
    analyser = LexicalAnalyser()
    retriever = Retriever(
        edge, embedder, analyser, executor, calibration=find_calibration(embedder, load_settings().models_dir)
    )
    builder = ContextBuilder(retriever, redis, PARTITIONS, TAIL_TURNS, profile=PROFILE)
    return AssembleBench(
        service=AssemblyService(builder, TraceBook(RedisTraces(redis)), system_clock),
        edge=edge,
        embedder=embedder,
        analyser=analyser,
        executor=executor,
        corpus=corpus,
        redis=redis,
    )


async def fill(bench: AssembleBench) -> float:
    """Stores all turns, and keeps the newest of each session in Redis, as a gateway does."""
    started = time.perf_counter()
    with count_items("filling the store", bench.corpus.points) as advance:
        for records in bench.corpus.batches(BATCH):
            await bench.edge.upsert(EVERY_TENANT, COLLECTION, records)
            await keep_tails(bench.redis, [MemoryRecord.from_payload(record.payload) for record in records])
            advance(len(records))
    return time.perf_counter() - started


async def keep_tails(redis: Redis, turns: list[MemoryRecord]) -> None:
    pipeline = redis.pipeline(transaction=False)
    for turn in turns:
        seq, session = turn.seq or 0, turn.session or ""
        if seq % TURNS_PER_SESSION < TURNS_PER_SESSION - LIVE_TURNS:
            continue
        event = Event(turn.event_id or "", turn.tenant, turn.user, session, "user", turn.text, ts=turn.ts)
        key = keys.tail(keys.partition_of(turn.tenant, session, PARTITIONS), turn.tenant, turn.user, session)
        pipeline.rpush(key, f"{seq} ".encode() + encode_event(event))
    await pipeline.execute()


async def warm_up(edge: EdgeStore) -> None:
    """Reads every record, as in a store in use: with a million of them, hardly anybody's had been touched otherwise."""
    after: str | None = None
    while True:
        page = await edge.scroll(EVERY_TENANT, COLLECTION, Where(), limit=PAGE, after=after, with_vectors=(LEXICAL,))
        if page.next is None:
            return
        after = page.next


async def measure_floor_and_answers(bench: AssembleBench, rounds: int) -> tuple[list[Timing], Timing]:
    """Measures in turn, so that a noisy machine hurts all of them alike."""
    columns: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        legs = bench.legs()
        columns["embedding the query"].append(await measure_ms(bench.embed()))
        columns["one raw search, both legs"].append(await measure_ms(bench.search(legs)))
        columns["one raw search, dense only"].append(await measure_ms(bench.search(legs[:1])))
        columns["answer, 1 caller"].append(await measure_ms(bench.answer()))
    *parts, alone = [summarise(name, column) for name, column in columns.items()]
    return parts, alone


async def measure_crowd(bench: AssembleBench, callers: int, questions: int) -> Timing:
    """Lets many callers ask, each again as soon as it is answered."""

    async def ask() -> list[float]:
        return [await measure_ms(bench.answer()) for _ in range(questions)]

    taken = await asyncio.gather(*(ask() for _ in range(callers)))
    return summarise(f"answer, {callers} callers", [one for many in taken for one in many])


def summarise(what: str, taken: list[float]) -> Timing:
    p50, p95 = np.percentile(taken, [50, 95]).tolist()
    return Timing(what, round(p50, 3), round(p95, 3))
