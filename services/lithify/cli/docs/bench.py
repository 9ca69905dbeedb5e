"""The benchmark of docs memory: your questions at a running service, or the shipped ones at a store of their own."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Final

from redis import Redis
from rich.progress import Progress
from rich.table import Table

from lithify.cli.api import Api
from lithify.cli.console import data, talk
from lithify.cli.docs.sync import progress
from lithify.docs.benchmark.measurement import DEPTH, MODES, Ask, AskedQuestion, ask_all, make_report
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


def asked(settings: Settings, file: Path, repo: str | None) -> dict[str, Any]:
    """Raises Invalid for a bad file, Unavailable if no service answers."""
    api, questions = Api(settings), read_questions(file)

    async def ask(text: str, mode: SearchMode) -> list[str]:
        body = {"query": text, "mode": mode, "limit": DEPTH, "repos": [repo] if repo else []}
        return [hit["path"] for hit in api.call("POST", "/v1/docs/search", body)["hits"]]

    return {"questions": str(file), "model": None, "scores": asyncio.run(measured(questions, ask))}


def shipped(settings: Settings) -> dict[str, Any]:
    """The shipped questions at the shipped documents, by words alone where the model is missing."""
    own = files(__package__)
    with as_file(own / "corpus") as folder, as_file(own / "questions.yaml") as questions:
        documents = Folder(folder.resolve(), Allowlist(("**/*.md",)))
        sources, _ = documents.read_all(documents.documents())
        return asyncio.run(on_own_store(settings, sources, read_questions(questions)))


async def on_own_store(
    settings: Settings, sources: Sequence[DocSource], questions: tuple[BenchmarkQuestion, ...]
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="lithify-docs-") as place, ThreadPoolExecutor(2) as executor:
        model, reason = open_embedder(settings)
        # The shape of a space needs some model; nothing is ever embedded with this one.
        space = Space.of(model or HashEmbedder(8, (2, 4, 8)))
        store = EdgeStore(Path(place))
        try:
            await store.ensure(space.spec)
            shelf = Shelf(store, executor, space, model)
            await shelf.fill(sources)
            scores = await measured(questions, shelf.ask, MODES if model else WITHOUT_MODEL)
        finally:
            await store.close()
    name = None if model is None else model.manifest.name
    return {"questions": "shipped", "model": name, "without_model": reason, "scores": scores}


@dataclass(frozen=True, slots=True)
class Shelf:
    """The documents of a folder in a store of their own."""

    store: EdgeStore
    executor: ThreadPoolExecutor
    space: Space
    model: Embedder | None

    async def fill(self, sources: Sequence[DocSource]) -> None:
        holdings = Holdings(self.store, LexicalAnalyser(), self.executor, system_clock, self.space)
        await holdings.put_all(SCOPE, REPO, sources)
        if self.model is not None:
            # Nobody else works here, so the job runs without a queue; it never asks for the connection.
            await catch_up(JobContext(EMBED, EMBED, 1, VectorParts(self.store, self.model), self.executor, Redis()))

    async def ask(self, text: str, mode: SearchMode) -> list[str]:
        search = DocSearch(self.store, LexicalAnalyser(), self.executor, self.space, self.model)
        found = await search.find(SCOPE, DocQuery(text, limit=DEPTH, mode=mode), system_clock())
        return [hit.chunk.path for hit in found.hits]


def open_embedder(settings: Settings) -> tuple[Embedder | None, str | None]:
    """The configured model, or none and why."""
    try:
        return load_configured_embedder(settings), None
    except Misconfigured as error:
        return None, str(error)


async def measured(
    questions: tuple[BenchmarkQuestion, ...], ask: Ask, modes: tuple[SearchMode, ...] = MODES
) -> dict[str, Any]:
    with progress() as bar:
        return make_report(await ask_all(questions, ask, modes, counting(bar, len(questions) * len(modes))))


def counting(bar: Progress, total: int) -> Callable[[AskedQuestion], None]:
    task = bar.add_task("ask", total=total)

    def count(_: AskedQuestion) -> None:
        bar.advance(task)

    return count


def show(told: dict[str, Any]) -> None:
    if reason := told.get("without_model"):
        talk.print(f"{NO_MODEL}: {reason}", markup=False, soft_wrap=True)
    data.print(score_table(told["scores"]))
    for mode, scores in told["scores"].items():
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
        add_row(table, category, [told["categories"][category] for told in scores.values()])
    add_row(table, "all", [told["all"] for told in scores.values()])
    return table


def add_row(table: Table, name: str, scores: list[dict[str, Any]]) -> None:
    """Controls have no answer to hit; a row of them alone shows none."""
    cells = []
    for score in scores:
        shares = (score["hit1"], score["hit5"], score["hint_rate"])
        cells += [f"{share:.3f}" if score["asked"] else "" for share in shares]
    table.add_row(name, str(scores[0]["asked"] or f"{scores[0]['controls']} controls"), *cells)
