"""`lithify eval`: recall on conversations with known evidence, measured through a whole node."""

import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import orjson
import typer

from lithify.cli.console import data, emit_json, talk
from lithify.cli.rebuild import Bars
from lithify.errors import Invalid
from lithify.evaluation.ablation import ablate
from lithify.evaluation.ablation_page import ablation_page
from lithify.evaluation.datasets import Dataset, load_dataset
from lithify.evaluation.fitting import fit_profile
from lithify.evaluation.report import Figures
from lithify.evaluation.run import evaluate
from lithify.evaluation.tables import summary, tables
from lithify.evaluation.workplace import Workplace
from lithify.memory.ranking.profile import RECALL
from lithify.settings import load_settings

EXIT_TERMINATED = 128 + signal.SIGTERM

app = typer.Typer(help="Measure recall on conversations with known evidence.", no_args_is_help=True)


class ProfileName(StrEnum):
    RECALL = "recall"
    SEED = "seed"


class Benchmark(StrEnum):
    LOCOMO = "locomo"
    BEAM = "beam"
    LONGMEMEVAL = "longmemeval"


Limit = Annotated[int | None, typer.Option(help="Only the first N conversations.", min=1)]
Profile = Annotated[ProfileName | None, typer.Option(help="Scoring profile (LITHIFY_RETRIEVAL_PROFILE).")]
Work = Annotated[
    Path | None,
    typer.Option(help="Folder that keeps the node's data, to go on later or ask again; default: a temporary one."),
]
Out = Annotated[Path | None, typer.Option("--json", help="File for the figures as JSON.")]


@app.command()
def locomo(
    path: Annotated[
        Path, typer.Option("--data", help="locomo10.json, or a folder with turns.jsonl and questions.jsonl.")
    ],
    limit_conversations: Limit = None,
    out: Out = None,
    profile: Profile = None,
    work: Work = None,
) -> None:
    """Long talks of two friends: find the turns that answer a question."""
    measure(chosen("locomo", path, limit_conversations), profile, work, out)


@app.command()
def beam(
    path: Annotated[Path, typer.Option("--data", help="Folder of chats (each with chat.json), or a prepared folder.")],
    limit_conversations: Limit = None,
    out: Out = None,
    profile: Profile = None,
    work: Work = None,
) -> None:
    """Long technical talks with an assistant: find the messages that answer a question."""
    measure(chosen("beam", path, limit_conversations), profile, work, out)


@app.command()
def longmemeval(
    path: Annotated[Path, typer.Option("--data", help="longmemeval_s*.json or its like, or a prepared folder.")],
    limit_conversations: Limit = None,
    out: Out = None,
    profile: Profile = None,
    work: Work = None,
) -> None:
    """A haystack of chats with an assistant for every question: find the sessions that answer it."""
    measure(chosen("longmemeval", path, limit_conversations), profile, work, out)


@app.command()
def fit(
    path: Annotated[Path, typer.Option("--data", help="The files of the benchmark.")],
    dataset: Annotated[Benchmark, typer.Option(help="Which benchmark they are of.")] = Benchmark.LOCOMO,
    limit_conversations: Limit = None,
    work: Work = None,
) -> None:
    """Fit the weights of profile recall, cross-validated over conversations, and print them beside the shipped ones."""
    chosen_data = chosen(dataset.value, path, limit_conversations)
    settings = load_settings(retrieval_profile=RECALL.name)
    with stopped_by_sigterm(), workplace(work, chosen_data) as place, Bars() as bars:
        found = fit_profile(chosen_data, place, settings, RECALL.normalised(), bars.tell)
    emit_json(asdict(found) | {"shipped_weights": RECALL.normalised().relevance._asdict()})


@app.command("ablate")
def ablate_search(
    path: Annotated[Path, typer.Option("--data", help="The files of the benchmark.")],
    dataset: Annotated[Benchmark, typer.Option(help="Which benchmark they are of.")] = Benchmark.LOCOMO,
    limit_conversations: Limit = None,
    out: Annotated[Path | None, typer.Option(help="Markdown file for the table; default: print it.")] = None,
    work: Work = None,
) -> None:
    """What each signal of the search is worth: recall without it, and with what was left out."""
    chosen_data = chosen(dataset.value, path, limit_conversations)
    check_writable(out)
    settings = load_settings(retrieval_profile=RECALL.name)
    base = RECALL.normalised()
    with stopped_by_sigterm(), workplace(work, chosen_data) as place, Bars() as bars:
        rows = list(ablate(chosen_data, place, settings, base, bars.tell))
    page = ablation_page(chosen_data, rows, base.digest(), settings.embedding_profile)
    if out is None:
        data.print(page, markup=False, end="")
    else:
        out.write_text(page, encoding="utf-8")


def chosen(name: str, path: Path, limit: int | None) -> Dataset:
    dataset = load_dataset(name, path)
    if dataset.dangling:
        talk.print(
            f"lithify: {dataset.dangling} pieces of evidence name no turn of their conversation and are left out"
        )
    return dataset if limit is None else dataset.first(limit)


def measure(dataset: Dataset, profile: ProfileName | None, work: Path | None, out: Path | None) -> None:
    settings = load_settings(retrieval_profile=profile)
    check_writable(out)
    with stopped_by_sigterm(), workplace(work, dataset) as place, Bars() as bars:
        report = evaluate(dataset, place, settings, bars.tell)
    publish(report, out)


def check_writable(out: Path | None) -> None:
    """Minutes of work must not end in a path that cannot be written."""
    if out is None:
        return
    try:
        out.open("ab").close()
    except OSError as error:
        raise Invalid(f"{out} cannot be written: {error.strerror}") from error


def publish(report: Figures, out: Path | None) -> None:
    talk.print(summary(report), markup=False, soft_wrap=True)
    for table in tables(report):
        data.print(table, "")
    if report["degraded"]:
        talk.print(f"lithify: {report['degraded']} questions were answered without some part of the memory")
    if out is not None:
        out.write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


@contextmanager
def workplace(work: Path | None, dataset: Dataset) -> Iterator[Workplace]:
    if work is not None:
        yield Workplace(work, dataset)
        return
    with tempfile.TemporaryDirectory(prefix="lithify-eval-") as folder:
        yield Workplace(Path(folder), dataset)


@contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Unwinds as Ctrl-C does, so that the node is stopped too."""

    def leave(*_: object) -> NoReturn:
        sys.exit(EXIT_TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
