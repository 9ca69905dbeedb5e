"""`lithify bench store`: how fast Edge is written and searched, alone, while being written, and while optimising."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer
from rich.table import Table

from lithify.cli.console import data, emit_json
from lithify.cli.progress import count_items
from lithify.events import EVERY_TENANT, TenantScope
from lithify.store import TIER_NAMES, CollectionSpec, EdgeStore, Query, Record, SparseVector, Where, point_id

SPEC: Final = CollectionSpec("bench", (64, 128, 384), "random")
BATCH: Final = 64
SEARCHES: Final = 200
# As a first recall asks for them.
LIMIT: Final = 32
TENANTS, USERS, SESSIONS = 200, 10, 50
# One tenant holds a tenth of everything.
BIG_SHARE: Final = 0.1
# Words of a text after its stop words are gone, drawn by Zipf's law with a flattened head.
VOCABULARY, WORDS, HEAD = 30_000, 30, 50


@dataclass(frozen=True, slots=True)
class Latency:
    """How long searches for one user take, dense and lexical in one batch; `worst` shows what a stall costs."""

    during: str
    searches: int
    p50_ms: float
    p95_ms: float
    worst_ms: float


@dataclass(frozen=True, slots=True)
class StoreReport:
    points: int
    upserts_per_second: float
    searches: list[Latency]
    optimise_seconds: float


class RecordCorpus:
    """Makes random records of many tenants, the same in every run."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(20)
        share = 1.0 / (np.arange(VOCABULARY) + HEAD)
        self._cumulative = np.cumsum(share / share.sum())
        self._made = 0

    def records(self, count: int) -> list[Record]:
        vectors = self._random.standard_normal((count, SPEC.tiers[-1]), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return [self._record(vector) for vector in vectors]

    def queries(self) -> list[Query]:
        [record] = self.records(1)
        words = record.lexical or SparseVector((), ())
        sparse = SparseVector(words.indices[:8], (1.0,) * len(words.indices[:8]))
        where = Where().equals("active", True)
        return [Query(where, "l3", record.vectors["l3"], LIMIT), Query(where, "lexical", sparse, LIMIT)]

    def dense_query(self, limit: int) -> Query:
        [record] = self.records(1)
        return Query(Where(), "l3", record.vectors["l3"], limit)

    def scope(self) -> TenantScope:
        return TenantScope(self._tenant(), self._pick("user", USERS))

    def _record(self, vector: np.ndarray[tuple[int], np.dtype[np.float32]]) -> Record:
        self._made += 1
        words = np.unique(np.searchsorted(self._cumulative, self._random.random(WORDS)))
        payload: dict[str, Any] = {
            "tenant": self._tenant(),
            "user": self._pick("user", USERS),
            "session": self._pick("session", SESSIONS),
            "event_id": str(self._made),
            "kind": "turn",
            "role": "user",
            "scope": "session",
            "active": True,
            "ts": self._made,
            "text": "a turn of ordinary length, as people write them to their agents " * 2,
        }
        return Record(
            id=point_id(payload["tenant"], "turn", payload["event_id"], "bench"),
            payload=payload,
            vectors={name: vector[:size] for name, size in zip(TIER_NAMES, SPEC.tiers, strict=True)},
            lexical=SparseVector(tuple(words.tolist()), (1.0,) * len(words)),
        )

    def _tenant(self) -> str:
        return "big" if self._random.random() < BIG_SHARE else self._pick("tenant", TENANTS)

    def _pick(self, what: str, count: int) -> str:
        return f"{what}-{self._random.integers(count)}"


def store(
    points: Annotated[int, typer.Option(help="Records to fill the store with.", min=BATCH)] = 20_000,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Upserts per second and search latency of Qdrant Edge, with and without writing and optimising beside."""
    report = asyncio.run(measure(points))
    if json:
        emit_json(asdict(report))
        return
    table = Table("searching during", "searches", "p50 ms", "p95 ms", "worst ms")
    for row in report.searches:
        table.add_row(row.during, str(row.searches), f"{row.p50_ms:.2f}", f"{row.p95_ms:.2f}", f"{row.worst_ms:.1f}")
    data.print(table)
    data.print(f"{report.upserts_per_second:,.0f} upserts/s in batches of {BATCH}, {report.points:,} records")
    data.print(f"optimising took {report.optimise_seconds:.1f} s")


async def measure(points: int) -> StoreReport:
    with tempfile.TemporaryDirectory(prefix="lithify-bench-") as folder:
        edge = EdgeStore(Path(folder))
        corpus = RecordCorpus()
        try:
            await edge.ensure(SPEC)
            seconds = await fill(edge, corpus, points)
            rows = [await measure_searches(edge, corpus, "nothing else")]
            async with run_beside(write_forever(edge, corpus)):
                rows.append(await measure_searches(edge, corpus, "writing"))
            started = time.perf_counter()
            async with run_beside(edge.optimise(SPEC.name)) as optimising:
                rows.append(await measure_searches(edge, corpus, "optimising", optimising))
            optimise_seconds = time.perf_counter() - started
            rows.append(await measure_searches(edge, corpus, "nothing else, once optimised"))
        finally:
            await edge.close()
    return StoreReport(points, points / seconds, rows, optimise_seconds)


async def fill(edge: EdgeStore, corpus: RecordCorpus, points: int) -> float:
    """Counts the seconds inside the store: making the records is not its work."""
    seconds = 0.0
    with count_items("filling the store", points) as advance:
        for size in batch_sizes(points):
            records = corpus.records(size)
            started = time.perf_counter()
            await edge.upsert(EVERY_TENANT, SPEC.name, records)
            seconds += time.perf_counter() - started
            advance(size)
    return seconds


def batch_sizes(points: int) -> Iterator[int]:
    while points > 0:
        yield min(points, BATCH)
        points -= BATCH


async def write_forever(edge: EdgeStore, corpus: RecordCorpus) -> None:
    while True:
        await edge.upsert(EVERY_TENANT, SPEC.name, corpus.records(BATCH))


@asynccontextmanager
async def run_beside(work: Awaitable[Any]) -> AsyncIterator["asyncio.Future[Any]"]:
    task = asyncio.ensure_future(work)
    await asyncio.sleep(0)
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def measure_searches(
    edge: EdgeStore, corpus: RecordCorpus, during: str, busy: "asyncio.Future[Any] | None" = None
) -> Latency:
    """Runs a fixed number of searches, or as many as get through while something is busy."""
    taken: list[float] = []
    while len(taken) < SEARCHES if busy is None else not busy.done():
        scope = corpus.scope()
        queries = corpus.queries()
        started = time.perf_counter()
        await edge.query_batch(scope, SPEC.name, queries)
        taken.append((time.perf_counter() - started) * 1000)
    p50, p95 = np.percentile(taken, [50, 95])
    return Latency(
        during=during,
        searches=len(taken),
        p50_ms=round(float(p50), 3),
        p95_ms=round(float(p95), 3),
        worst_ms=round(max(taken), 1),
    )
