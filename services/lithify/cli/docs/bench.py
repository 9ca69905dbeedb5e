"""The benchmark of docs memory: your questions at a running service, or the shipped ones at a store of their own."""

import asyncio
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Final

from redis import Redis
from rich.table import Table

from lithify.cli.console import data, talk
from lithify.cli.progress import count_items
from lithify.cli.service import connect
from lithify.docs.benchmark.measurement import DEPTH, MODES, Ask, ask_all, make_report
from lithify.docs.benchmark.questions import BenchmarkQuestion, read_questions
from lithify.docs.folder.reading import Allowlist, Folder
from lithify.docs.holdings import Holdings
from lithify.docs.jobs import EMBED
from lithify.docs.query import DocQuery, SearchMode
from lithify.docs.search import DocSearch
from lithify.docs.sources import DocSource
from lithify.docs.space import Space
from lithify.embedding import Embedder, load_configured_embedder
from lithify.embedding.hash_embedder import HashEmbedder
from lithify.errors import Misconfigured
from lithify.events import TenantScope, system_clock
from lithify.jobs import JobContext
from lithify.librarian.vectors import VectorParts, catch_up
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.settings import Settings
from lithify.store import EdgeStore

REPO: Final = "shipped"
SCOPE: Final = TenantScope("benchmark")
WITHOUT_MODEL: Final[tuple[SearchMode, ...]] = ("lexical", "fused")
NO_MODEL: Final = "there is no model, so that words alone answer"


def measure_service(settings: Settings, file: Path, repo: str | None) -> dict[str, Any]:
    """Asks a running service the questions of a file. Raises Invalid for a bad file, Unavailable if none answers."""
    questions = read_questions(file)
    with connect(settings) as service:

        async def ask(text: str, mode: SearchMode) -> list[str]:
            body = {"query": text, "mode": mode, "limit": DEPTH, "repos": [repo] if repo else []}
            return [hit["path"] for hit in service.request_json("POST", "/v1/docs/search", body)["hits"]]

        scores = asyncio.run(measure(questions, ask))
    return {"questions": str(file), "model": None, "scores": scores}


def measure_shipped(settings: Settings) -> dict[str, Any]:
    """Asks the shipped questions at the shipped documents, by words alone where the model is missing."""
    own = files(__package__)
    with as_file(own / "corpus") as folder, as_file(own / "questions.yaml") as questions:
        documents = Folder(folder.resolve(), Allowlist(("**/*.md",)))
        sources, _ = documents.read_all(documents.documents())
        return asyncio.run(measure_own_store(settings, sources, read_questions(questions)))


async def measure_own_store(
    settings: Settings, sources: Sequence[DocSource], questions: tuple[BenchmarkQuestion, ...]
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="lithify-docs-") as place, ThreadPoolExecutor(2) as executor:
        model, reason = open_embedder(settings)
        # The shape of a space needs some model; nothing is ever embedded with this one.
        space = Space.of(model or HashEmbedder(8, (2, 4, 8)))
        store = EdgeStore(Path(place))
        try:
            await store.ensure(space.spec)
            library = BenchLibrary(store, executor, space, model)
            await library.fill(sources)
            scores = await measure(questions, library.ask, MODES if model else WITHOUT_MODEL)
        finally:
            await store.close()
    name = None if model is None else model.manifest.name
    return {"questions": "shipped", "model": name, "without_model": reason, "scores": scores}


@dataclass(frozen=True, slots=True)
class BenchLibrary:
    """Holds the documents of a folder in a store of their own."""

    store: EdgeStore
    executor: ThreadPoolExecutor
    space: Space
    model: Embedder | None

    async def fill(self, sources: Sequence[DocSource]) -> None:
        holdings = Holdings(
            store=self.store, analyser=LexicalAnalyser(), executor=self.executor, clock=system_clock, space=self.space
        )
        await holdings.put_all(SCOPE, REPO, sources)
        if self.model is not None:
            # Nobody else works here, so the job runs without a queue; it never asks for the connection.
            await catch_up(
                JobContext(
                    job_id=EMBED,
                    name=EMBED,
                    attempt=1,
                    parts=VectorParts(self.store, self.model),
                    executor=self.executor,
                    connection=Redis(),
                )
            )

    async def ask(self, text: str, mode: SearchMode) -> list[str]:
        search = DocSearch(
            store=self.store, analyser=LexicalAnalyser(), executor=self.executor, space=self.space, embedder=self.model
        )
        found = await search.find(SCOPE, DocQuery(text, limit=DEPTH, mode=mode), system_clock())
        return [hit.chunk.path for hit in found.hits]


def open_embedder(settings: Settings) -> tuple[Embedder | None, str | None]:
    """Loads the configured model, or says why there is none."""
    try:
        return load_configured_embedder(settings), None
    except Misconfigured as error:
        return None, str(error)


async def measure(
    questions: tuple[BenchmarkQuestion, ...], ask: Ask, modes: tuple[SearchMode, ...] = MODES
) -> dict[str, Any]:
    with count_items("ask", len(questions) * len(modes)) as advance:
        return make_report(await ask_all(questions, ask, modes, lambda _: advance(1)))


def show(measured: dict[str, Any]) -> None:
    if reason := measured.get("without_model"):
        talk.print(f"{NO_MODEL}: {reason}", markup=False, soft_wrap=True)
    data.print(score_table(measured["scores"]))
    for mode, scores in measured["scores"].items():
        for miss in scores["worst"]:
            words = "found with its hint" if miss["needs_hint"] else "not found"
            talk.print(f"{mode}: {miss['id']} ({miss['category']}) {words}", markup=False)


def score_table(scores: dict[str, Any]) -> Table:
    table = Table("category", "asked", box=None, padding=(0, 2, 0, 0))
    for mode in scores:
        for name in ("Hit@1", "Hit@5", "hints"):
            table.add_column(f"{mode} {name}")
    categories = next(iter(scores.values()))["categories"]
    for category in categories:
        add_row(table, category, [by_mode["categories"][category] for by_mode in scores.values()])
    add_row(table, "all", [by_mode["all"] for by_mode in scores.values()])
    return table


def add_row(table: Table, name: str, scores: list[dict[str, Any]]) -> None:
    """Adds the shares of one category; controls have no answer to hit, and a row of them alone shows none."""
    cells = []
    for score in scores:
        shares = (score["hit1"], score["hit5"], score["hint_rate"])
        cells += [f"{share:.3f}" if score["asked"] else "" for share in shares]
    table.add_row(name, str(scores[0]["asked"] or f"{scores[0]['controls']} controls"), *cells)
