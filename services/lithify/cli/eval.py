"""`lithify eval`: recall on conversations with known evidence, measured through a whole node."""

import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import orjson
import typer

from lithify.cli.console import data, emit_json, talk
from lithify.cli.progress import StageBars
from lithify.errors import Invalid
from lithify.evaluation.ablation import AblationPlan, ablate
from lithify.evaluation.ablation_page import ablation_page
from lithify.evaluation.ablation_variants import FULL_PRECISION
from lithify.evaluation.calibration_examples import fit_relevance
from lithify.evaluation.datasets import (
    BENCHMARKS,
    BenchmarkName,
    Dataset,
    find_datasets,
    load_dataset,
    name_of_path,
)
from lithify.evaluation.datasets.benchmarks import Benchmark
from lithify.evaluation.datasets.files import read_json
from lithify.evaluation.fitting import describe_fit, fit_profile
from lithify.evaluation.foreign import PER_PAIR, measure_foreign
from lithify.evaluation.report import Figures, foreign_table, summary, tables
from lithify.evaluation.run import evaluate
from lithify.evaluation.suite import measure_suite
from lithify.evaluation.suite_table import suite_table
from lithify.evaluation.workplace import Workplace, find_workplace
from lithify.memory.ranking.profile import RECALL
from lithify.node.child import stopped_by_sigterm
from lithify.settings import load_settings, resolve_embedding_name

app = typer.Typer(help="Measure recall on conversations with known evidence.", no_args_is_help=True)


Limit = Annotated[int | None, typer.Option(help="Only the first N conversations.", min=1)]
Profile = Annotated[
    str | None, typer.Option(help="Retrieval profile: recall, seed or a .toml file (LITHIFY_RETRIEVAL_PROFILE).")
]
Work = Annotated[
    Path | None,
    typer.Option(help="Folder that keeps the node's data, to go on later or ask again; default: a temporary one."),
]
Form = Annotated[
    BenchmarkName | None, typer.Option(help="Which benchmark the files are of; default: as their content says.")
]
Out = Annotated[Path | None, typer.Option("--json", help="File for the figures as JSON.")]


def add_benchmark(name: BenchmarkName, benchmark: Benchmark) -> None:
    """Adds the command of one benchmark."""
    files = f"{benchmark.files}, or a folder with turns.jsonl and questions.jsonl."

    @app.command(name.value, help=benchmark.about)
    def run(
        path: Annotated[Path, typer.Option("--data", help=files)],
        limit_conversations: Limit = None,
        out: Out = None,
        profile: Profile = None,
        work: Work = None,
    ) -> None:
        measure(load_chosen(name.value, path, limit_conversations), profile, work, out)


for _name, _benchmark in BENCHMARKS.items():
    add_benchmark(_name, _benchmark)


@app.command("all")
def measure_all(
    folders: Annotated[
        list[Path],
        typer.Option("--data", help="A data set of any known form, or a folder of such; may be given repeatedly."),
    ],
    limit_conversations: Limit = None,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Only N questions of each set, evenly spaced, for a quick look.")
    ] = None,
    previous: Annotated[
        list[Path] | None, typer.Option(help="Figures of an earlier run, to show beside; may be given repeatedly.")
    ] = None,
    out: Out = None,
    profile: Profile = None,
    work: Work = None,
) -> None:
    """Measure many data sets and print one table: what is shipped, its bare legs and an earlier run."""
    earlier = [read_figures(path) for path in previous or ()]
    datasets = load_named([path for folder in folders for path in find_datasets(folder)], None, limit_conversations)
    asked = [one if questions is None else one.sample(questions) for one in datasets]
    settings = load_settings(retrieval_profile=profile)
    check_writable(out)
    with stopped_by_sigterm(), open_folder(work) as folder, StageBars() as bars:
        report = measure_suite(asked, folder, settings, bars.show)
    data.print(suite_table(report, earlier), markup=False)
    write_figures(report, out)


def read_figures(path: Path) -> Figures:
    figures = read_json(path)
    if not isinstance(figures, dict) or not ({"sets", "search"} & figures.keys()):
        raise Invalid(f"{path} holds no figures of `lithify eval`")
    return figures


@app.command()
def foreign(
    path: Annotated[Path, typer.Option("--data", help="The files of the benchmark.")],
    dataset: Form = None,
    per_pair: Annotated[
        int, typer.Option(min=1, help="Questions of each conversation that every other one is asked.")
    ] = PER_PAIR,
    limit_conversations: Limit = None,
    out: Out = None,
    profile: Profile = None,
    work: Work = None,
) -> None:
    """Ask the questions of one conversation of another user's memory: what is injected there is noise."""
    chosen_data = load_chosen(dataset, path, limit_conversations)
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
        typer.Option("--data", help="The files of a benchmark; may be given repeatedly, sets weigh the same."),
    ],
    dataset: Form = None,
    relevance: Annotated[
        Path | None,
        typer.Option(help="Fit the chance that a memory helps instead, for the model in use; writes relevance.json."),
    ] = None,
    limit_conversations: Limit = None,
    work: Work = None,
) -> None:
    """Fit the weights of profile recall, cross-validated over conversations; says what each data set loses."""
    named = load_named(paths, dataset, limit_conversations)
    if relevance is not None:
        fit_relevance_file(named, relevance, work)
        return
    settings = load_settings(retrieval_profile=RECALL.name)
    base = RECALL.normalise()
    with stopped_by_sigterm(), open_folder(work) as folder, StageBars() as bars:
        places = [(one, find_workplace(folder, one, settings)) for one in named]
        found = fit_profile(places, settings, base, bars.show)
    emit_json(describe_fit(found, base))


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
    dataset: Form = None,
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
    datasets = load_named(paths, dataset, limit_conversations)
    check_writable(out)
    base = RECALL.normalise()
    command = shlex.join(["lithify", *sys.argv[1:]])
    wanted: list[str | None] = [*models] if models else [None]
    settings = [load_settings(retrieval_profile=RECALL.name, embedding_profile=model) for model in wanted]
    exact = {resolve_embedding_name(name) for name in precise or ()}
    if unknown := exact.difference(model.embedding_profile for model in settings):
        raise Invalid(f"--fp32 {unknown.pop()} is none of the measured models; name it with --model too")
    with stopped_by_sigterm(), open_folder(work) as folder, StageBars() as bars:
        plans = [
            AblationPlan(one, model, folder, (FULL_PRECISION,) if model.embedding_profile in exact else ())
            for one in datasets
            for model in settings
        ]
        found = ablate(plans, base, bars.show)
    page = ablation_page(command, base.digest(), found)
    if out is None:
        data.print(page, markup=False, end="", soft_wrap=True)
    else:
        out.write_text(page, encoding="utf-8")


def load_named(paths: list[Path], form: str | None, limit: int | None) -> list[Dataset]:
    """Loads data sets under the names of their folders. Raises Invalid if two have the same."""
    names = [name_of_path(path) for path in paths]
    if len(set(names)) < len(names):
        raise Invalid("two data sets have the same name; give folders with names of their own")
    return [replace(load_chosen(form, path, limit), name=name) for name, path in zip(names, paths, strict=True)]


def load_chosen(form: str | None, path: Path, limit: int | None) -> Dataset:
    dataset = load_dataset(form, path)
    if dataset.dangling:
        talk.print(
            f"lithify: {dataset.dangling} pieces of evidence name no turn of their conversation and are left out"
        )
    if dataset.cut_turns:
        talk.print(f"lithify: {dataset.cut_turns} turns of {path} are longer than the gateway takes and are cut")
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
