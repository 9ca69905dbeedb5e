"""`lithify bench score`: the second pass over a thousand candidates against one raw search of the engine."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from rich.table import Table

from lithify.cli.bench.store import SPEC, Corpus, fill
from lithify.cli.console import data, emit_json
from lithify.events import EVERY_TENANT, AnyTenant
from lithify.memory.ranking.candidate import Candidate, Kind
from lithify.memory.ranking.keywords import keywords
from lithify.memory.ranking.profile import RECALL, SEED
from lithify.memory.ranking.relevance import Signals
from lithify.memory.ranking.scope import Scope
from lithify.memory.ranking.scoring import score_pass2
from lithify.store import EdgeStore, Query, Where

CANDIDATES: Final = 1_000
HITS: Final = 24
ROUNDS: Final = 30
NOW_MS: Final = 1_700_000_000_000
QUESTION: Final = "How many days before the concert in Lisbon did my sister book the night train and pay the deposit?"
WORDS: Final = (
    "train night Lisbon sister paid deposit concert garden kitchen report Thursday violin the my with before after"
)


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """Median milliseconds; the ratios say how much of a raw search the whole second pass costs."""

    points: int
    candidates: int
    recall_ms: float
    seed_ms: float
    search_all_ms: float
    search_user_ms: float
    ratio_all: float
    ratio_user: float


def score(
    points: Annotated[int, typer.Option(help="Records in the searched store.", min=1_000)] = 100_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Pass 2 with all components and its receipt rows, against one raw search of 24 hits."""
    report = asyncio.run(measure(points))
    if as_json:
        emit_json(asdict(report))
        return
    table = Table("what", "median ms", "pass 2 (recall) / this")
    table.add_row(f"pass 2, {report.candidates} candidates, profile recall", f"{report.recall_ms:.2f}", "")
    table.add_row(f"pass 2, {report.candidates} candidates, profile seed", f"{report.seed_ms:.2f}", "")
    table.add_row(f"raw search, {points:,} points", f"{report.search_all_ms:.2f}", f"{report.ratio_all:.2f}")
    table.add_row("raw search, one user of them", f"{report.search_user_ms:.2f}", f"{report.ratio_user:.2f}")
    data.print(table)


async def measure(points: int) -> ScoreReport:
    candidates, asked = made_candidates(), keywords(QUESTION)
    corpus = Corpus()
    with tempfile.TemporaryDirectory(prefix="lithify-bench-") as folder:
        edge = EdgeStore(Path(folder))
        try:
            await edge.ensure(SPEC)
            await fill(edge, corpus, points)
            # Interleaved, so that a noisy machine hurts all of them alike.
            rounds = [
                (
                    await timed(pass2(candidates, asked, recall=True)),
                    await timed(pass2(candidates, asked, recall=False)),
                    await timed(search(edge, corpus, EVERY_TENANT)),
                    await timed(search(edge, corpus, corpus.scope())),
                )
                for _ in range(ROUNDS)
            ]
        finally:
            await edge.close()
    recall, seed, everything, user = np.median(rounds, axis=0).tolist()
    return ScoreReport(points, len(candidates), recall, seed, everything, user, recall / everything, recall / user)


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


def pass2(candidates: list[Candidate], asked: tuple[str, ...], *, recall: bool) -> Callable[[], Awaitable[object]]:
    async def run() -> object:
        return score_pass2(candidates, asked, (RECALL if recall else SEED).normalised(), NOW_MS, 9.0)

    return run


def search(edge: EdgeStore, corpus: Corpus, scope: AnyTenant) -> Callable[[], Awaitable[object]]:
    [dense, _] = corpus.queries()
    query = Query(Where(), dense.using, dense.vector, HITS)

    async def run() -> object:
        return await edge.query_batch(scope, SPEC.name, [query])

    return run


def made_candidates() -> list[Candidate]:
    """Returns the same candidates in every run, as a search gives them to assembly."""
    random = np.random.default_rng(8)
    texts = [" ".join(random.choice(WORDS.split(), 18)) for _ in range(CANDIDATES)]
    signals = random.random((CANDIDATES, 4)).tolist()  # dense, lexical, neighbours, session
    return [
        Candidate(
            id=f"c{number}",
            text=text,
            scope=Scope.HISTORY,
            kind=Kind.TURN,
            signals=Signals(*values),
            role="user",
            ts=NOW_MS - number * 60_000,
            access_count=number % 10,
        )
        for number, (text, values) in enumerate(zip(texts, signals, strict=True))
    ]
