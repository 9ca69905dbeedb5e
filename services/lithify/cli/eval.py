"""`lithify eval`: recall on conversations with known evidence, measured through a whole node."""

import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import orjson
import typer

from lithify.cli.console import data, emit_json, talk
from lithify.cli.progress import StageBars
from lithify.errors import Invalid
from lithify.evaluation.ablation import AblationPlan, ablate
from lithify.evaluation.ablation_page import ablation_page
from lithify.evaluation.calibration_examples import fit_relevance
from lithify.evaluation.datasets import Dataset, load_dataset
from lithify.evaluation.fitting import fit_profile
from lithify.evaluation.foreign import PER_PAIR, measure_foreign
from lithify.evaluation.report import Figures, foreign_table, summary, tables
from lithify.evaluation.run import evaluate
from lithify.evaluation.workplace import Workplace, find_workplace
from lithify.memory.ranking.profile import RECALL
from lithify.node.child import stopped_by_sigterm
from lithify.settings import load_settings

app = typer.Typer(help="Measure recall on conversations with known evidence.", no_args_is_help=True)


class Benchmark(StrEnum):
    LOCOMO = "locomo"
    BEAM = "beam"
    LONGMEMEVAL = "longmemeval"


Limit = Annotated[int | None, typer.Option(help="Only the first N conversations.", min=1)]
Profile = Annotated[
    str | None, typer.Option(help="Retrieval profile: recall, seed or a .toml file (LITHIFY_RETRIEVAL_PROFILE).")
]
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
    measure(load_chosen("locomo", path, limit_conversations), profile, work, out)


@app.command()
def beam(
    path: Annotated[Path, typer.Option("--data", help="Folder of chats (each with chat.json), or a prepared folder.")],
    limit_conversations: Limit = None,
    out: Out = None,
    profile: Profile = None,
    work: Work = None,
) -> None:
    """Long technical talks with an assistant: find the messages that answer a question."""
    measure(load_chosen("beam", path, limit_conversations), profile, work, out)


@app.command()
def longmemeval(
    path: Annotated[Path, typer.Option("--data", help="longmemeval_s*.json or its like, or a prepared folder.")],
    limit_conversations: Limit = None,
    out: Out = None,
    profile: Profile = None,
    work: Work = None,
) -> None:
    """A haystack of chats with an assistant for every question: find the sessions that answer it."""
    measure(load_chosen("longmemeval", path, limit_conversations), profile, work, out)


@app.command()
def foreign(
    path: Annotated[Path, typer.Option("--data", help="The files of the benchmark.")],
    dataset: Annotated[Benchmark, typer.Option(help="Which benchmark they are of.")] = Benchmark.LOCOMO,
    per_pair: Annotated[
        int, typer.Option(min=1, help="Questions of each conversation that every other one is asked.")
    ] = PER_PAIR,
    limit_conversations: Limit = None,
    out: Out = None,
    profile: Profile = None,
    work: Work = None,
) -> None:
    """Ask the questions of one conversation of another user's memory: what is injected there is noise."""
    chosen_data = load_chosen(dataset.value, path, limit_conversations)
    settings = load_settings(retrieval_profile=profile)
    check_writable(out)
    with stopped_by_sigterm(), open_workplace(work, chosen_data) as place, StageBars() as bars:
        report = measure_foreign(chosen_data, place, settings, per_pair, bars.show)
    talk.print(summary(report), markup=False, soft_wrap=True)
    data.print(foreign_table(report))
    write_figures(report, out)


@app.command()
def fit(
    paths: Annotated[
        list[Path],
        typer.Option("--data", help="The files of the benchmark; with --relevance, may be given repeatedly."),
    ],
    dataset: Annotated[Benchmark, typer.Option(help="Which benchmark they are of.")] = Benchmark.LOCOMO,
    relevance: Annotated[
        Path | None,
        typer.Option(help="Fit the chance that a memory helps instead, for the model in use; writes relevance.json."),
    ] = None,
    limit_conversations: Limit = None,
    work: Work = None,
) -> None:
    """Fit the weights of profile recall, cross-validated over conversations, and print them beside the shipped ones."""
    chosen = [load_chosen(dataset.value, path, limit_conversations) for path in paths]
    if relevance is not None:
        named = [replace(one, name=path.resolve().stem) for one, path in zip(chosen, paths, strict=True)]
        fit_relevance_file(named, relevance, work)
        return
    if chosen[1:]:
        raise Invalid("the weights are fitted on one data set; several need --relevance")
    [chosen_data] = chosen
    settings = load_settings(retrieval_profile=RECALL.name)
    with stopped_by_sigterm(), open_workplace(work, chosen_data) as place, StageBars() as bars:
        found = fit_profile(chosen_data, place, settings=settings, base=RECALL.normalise(), progress=bars.show)
    weights = {"weights": found.weights._asdict(), "shipped_weights": RECALL.normalise().relevance._asdict()}
    emit_json(asdict(found) | weights)


def fit_relevance_file(datasets: list[Dataset], out: Path, work: Path | None) -> None:
    """Writes the constants with the data they come from, and prints what each floor does to data they have not seen."""
    check_writable(out)
    settings = load_settings(retrieval_profile=RECALL.name)
    with stopped_by_sigterm(), open_folder(work) as folder, StageBars() as bars:
        places = [(one, find_workplace(folder, one, settings)) for one in datasets]
        found, file = fit_relevance(places, settings, RECALL.normalise(), bars.show)
    out.write_text(file.model_dump_json(indent=2) + "\n", encoding="utf-8")
    emit_json(asdict(found))


@app.command("ablate")
def ablate_search(
    paths: Annotated[list[Path], typer.Option("--data", help="The files of the benchmark; may be given repeatedly.")],
    dataset: Annotated[Benchmark, typer.Option(help="Which benchmark they are of.")] = Benchmark.LOCOMO,
    models: Annotated[
        list[str] | None,
        typer.Option("--model", help="Embedding profile; may be given repeatedly (LITHIFY_EMBEDDING_PROFILE)."),
    ] = None,
    precise: Annotated[
        list[str] | None,
        typer.Option("--fp32", help="One of the models to measure in fp32 as well; ingests once more."),
    ] = None,
    limit_conversations: Limit = None,
    out: Annotated[Path | None, typer.Option(help="Markdown file for the tables; default: print them.")] = None,
    work: Work = None,
) -> None:
    """Measure what each signal of the search is worth: recall without it, and with what was left out."""
    datasets = [load_chosen(dataset.value, path, limit_conversations) for path in paths]
    check_writable(out)
    base = RECALL.normalise()
    command = shlex.join(["lithify", *sys.argv[1:]])
    wanted: list[str | None] = [*models] if models else [None]
    settings = [load_settings(retrieval_profile=RECALL.name, embedding_profile=model) for model in wanted]
    if unknown := set(precise or ()).difference(model.embedding_profile for model in settings):
        raise Invalid(f"--fp32 {unknown.pop()} is none of the measured models; name it with --model too")
    with stopped_by_sigterm(), open_folder(work) as folder, StageBars() as bars:
        plans = [
            AblationPlan(one, model, folder, model.embedding_profile in (precise or ()))
            for one in datasets
            for model in settings
        ]
        found = ablate(plans, base, bars.show)
    page = ablation_page(command, base.digest(), found)
    if out is None:
        data.print(page, markup=False, end="", soft_wrap=True)
    else:
        out.write_text(page, encoding="utf-8")


def load_chosen(name: str, path: Path, limit: int | None) -> Dataset:
    dataset = load_dataset(name, path)
    if dataset.dangling:
        talk.print(
            f"lithify: {dataset.dangling} pieces of evidence name no turn of their conversation and are left out"
        )
    return dataset if limit is None else dataset.first(limit)


def measure(dataset: Dataset, profile: str | None, work: Path | None, out: Path | None) -> None:
    settings = load_settings(retrieval_profile=profile)
    check_writable(out)
    with stopped_by_sigterm(), open_workplace(work, dataset) as place, StageBars() as bars:
        report = evaluate(dataset, place, settings, bars.show)
    publish(report, out)


def check_writable(out: Path | None) -> None:
    """Raises Invalid at once: minutes of work must not end in a path that cannot be written."""
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
    write_figures(report, out)


def write_figures(report: Figures, out: Path | None) -> None:
    if out is not None:
        out.write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


@contextmanager
def open_workplace(work: Path | None, dataset: Dataset) -> Iterator[Workplace]:
    with open_folder(work) as folder:
        yield Workplace(folder, dataset)


@contextmanager
def open_folder(work: Path | None) -> Iterator[Path]:
    if work is not None:
        yield work
        return
    with tempfile.TemporaryDirectory(prefix="lithify-eval-") as folder:
        yield Path(folder)
