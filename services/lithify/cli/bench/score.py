"""`lithify bench score`: the second pass over a thousand candidates against one raw search of the engine."""

import asyncio
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from rich.table import Table

from lithify.cli.bench.store import SPEC, RecordCorpus, fill
from lithify.cli.bench.timing import measure_ms
from lithify.cli.console import data, emit_json
from lithify.events import EVERY_TENANT, AnyTenant
from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.cues import keywords
from lithify.memory.ranking.profile import RECALL, SEED, Profile
from lithify.memory.ranking.relevance import Signals
from lithify.memory.ranking.scoring import score_pass2
from lithify.store import EdgeStore, Query

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
    candidates = make_candidates()
    asked = keywords(QUESTION)
    recall_profile = RECALL.normalise()
    seed_profile = SEED.normalise()
    corpus = RecordCorpus()
    with tempfile.TemporaryDirectory(prefix="lithify-bench-") as folder:
        edge = EdgeStore(Path(folder))
        try:
            await edge.ensure(SPEC)
            await fill(edge, corpus, points)
            # Interleaved, so that a noisy machine hurts all of them alike.
            rounds = [
                (
                    await measure_ms(score_candidates(candidates, asked, recall_profile)),
                    await measure_ms(score_candidates(candidates, asked, seed_profile)),
                    await measure_ms(search(edge, corpus.dense_query(HITS), EVERY_TENANT)),
                    await measure_ms(search(edge, corpus.dense_query(HITS), corpus.scope())),
                )
                for _ in range(ROUNDS)
            ]
        finally:
            await edge.close()
    recall, seed, everything, user = np.median(rounds, axis=0).tolist()
    return ScoreReport(
        points=points,
        candidates=len(candidates),
        recall_ms=recall,
        seed_ms=seed,
        search_all_ms=everything,
        search_user_ms=user,
        ratio_all=recall / everything,
        ratio_user=recall / user,
    )


async def score_candidates(candidates: list[Candidate], asked: tuple[str, ...], profile: Profile) -> None:
    """Runs the call that assembly makes for an answer."""
    score_pass2(candidates, asked, profile=profile, now_ms=NOW_MS, max_access=9.0)


async def search(edge: EdgeStore, query: Query, scope: AnyTenant) -> None:
    await edge.query_batch(scope, SPEC.name, [query])


def make_candidates() -> list[Candidate]:
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
