"""`lithify eval` as an operator runs it: real node, real model, files in and figures out."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lithify.cli.eval import app
from lithify.embedding.configured import default_profile
from lithify.embedding.relevance_file import RelevanceFile
from lithify.errors import Invalid, LithifyError, Misconfigured
from lithify.evaluation.ablation import AblationPlan
from lithify.evaluation.datasets import load_dataset
from lithify.evaluation.kind_weights import KindWeights
from lithify.evaluation.weight_comparison import MixtureFit, SetComparison
from lithify.evaluation.workplace import find_workplace
from lithify.memory.ranking.profile import RECALL
from lithify.memory.ranking.relevance import RelevanceWeights
from lithify.settings import Settings
from tests.integration.node_process import lithify
from tests.unit.evaluation.made_files import TURNS, prepared

BENCHMARK = Path(__file__).parent.parent / "benchmark" / "data"
CONVERSATION = "mira"
QUESTIONS = 10
INTERRUPT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Bench:
    """A few questions about one conversation, and a work folder where `ablate` looks for it as well."""

    data: Path
    work: Path
    place: Path
    environment: dict[str, str]

    @property
    def command(self) -> tuple[str, ...]:
        return ("eval", "locomo", "--data", str(self.data), "--work", str(self.place))

    def evaluated(self, out: Path, *options: str) -> Any:
        done = lithify(*self.command, *options, "--json", str(out), **self.environment)
        assert done.returncode == 0, done.stderr
        return json.loads(out.read_bytes())


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Bench:
    folder = tmp_path_factory.mktemp("bench")
    turns, questions = (own_rows(BENCHMARK / f"{name}.jsonl") for name in ("turns", "questions"))
    data = prepared(folder / "data", turns, questions[:QUESTIONS])
    place = AblationPlan(load_dataset("locomo", data), Settings(), folder / "work").workplace.folder
    return Bench(data, folder / "work", place, {"LITHIFY_MODELS_DIR": str(models_dir)})


def own_rows(path: Path) -> list[Any]:
    return [row for row in read_rows(path) if row["conv"] == CONVERSATION]


def read_rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def first_answers(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Of a run that is stopped after them."""
    log = tmp_path_factory.mktemp("interrupted") / "log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "lithify.cli", *bench.command]
        run = subprocess.Popen(command, env=os.environ | bench.environment, stdout=output, stderr=output)
    before = answers_so_far(bench.place, run, log)
    run.send_signal(signal.SIGTERM)
    assert run.wait(60) == 128 + signal.SIGTERM
    return before


def answers_so_far(work: Path, run: "subprocess.Popen[bytes]", log: Path) -> list[str]:
    deadline = time.monotonic() + INTERRUPT_SECONDS
    while time.monotonic() < deadline:
        assert run.poll() is None, log.read_text()
        for journal in work.glob("answers-*.jsonl"):
            if len(lines := journal.read_text().splitlines()) > 1:
                return lines[:-1]  # the last one may still be being written
        time.sleep(0.05)
    raise AssertionError(f"no answers in {INTERRUPT_SECONDS} s:\n{log.read_text()}")


@pytest.fixture(scope="module")
def recall(bench: Bench, first_answers: list[str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The figures of the run that goes on after the interruption."""
    return bench.evaluated(tmp_path_factory.mktemp("recall") / "out.json")


def test_an_interrupted_run_goes_on_where_it_was(bench: Bench, first_answers: list[str], recall: Any) -> None:
    [journal] = bench.place.glob("answers-recall-*.done.jsonl")
    after = journal.read_text().splitlines()
    assert after[: len(first_answers)] == first_answers
    assert len(after) == recall["n"] == QUESTIONS > len(first_answers)
    assert recall["degraded"] == 0
    assert recall["search"]["fraction"]["10"] > 0.8
    assert recall["search"]["latency_ms"]["p95"] >= recall["search"]["latency_ms"]["p50"] > 0
    assert recall["assemble"]["1000"] > 0.8


def test_a_work_folder_is_ingested_once_and_asked_under_every_profile(
    bench: Bench, recall: Any, tmp_path: Path
) -> None:
    seed = bench.evaluated(tmp_path / "seed.json", "--profile", "seed")
    assert (recall["profile"], seed["profile"]) == ("recall", "seed")
    assert recall["profile_sha256"] != seed["profile_sha256"]
    assert recall["ingest_seconds"] == seed["ingest_seconds"]


@pytest.mark.usefixtures("recall")
def test_the_ablation_measures_every_variant_on_the_same_ingested_folder(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "ablation.md"
    options = ("--data", str(bench.data), "--work", str(bench.work), "--out", str(out))
    done = CliRunner(env=bench.environment).invoke(app, ["ablate", *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    table = [line.split(" | ") for line in out.read_text().splitlines() if line.startswith("| ")]
    figures = {cells[0].removeprefix("| "): cells[1:] for cells in table}
    for variant in ("profile recall", "without dense", "with MMR", "with decay", "RRF", "profile seed", "cascade"):
        assert any(variant in name for name in figures), variant
    assert float(figures["profile recall"][0].split("/")[2]) > 0.8
    assert figures["profile seed"] != figures["profile recall"]
    # Finished: the next run asks anew.
    [journal] = bench.place.glob("answers-ablation-*")
    assert journal.name.endswith(".done.jsonl")


def test_all_data_sets_of_a_folder_are_measured_in_one_table(bench: Bench, recall: Any, tmp_path: Path) -> None:
    earlier, out = tmp_path / "earlier.json", tmp_path / "all.json"
    earlier.write_text(json.dumps(recall))
    options = ("--data", str(bench.data.parent), "--work", str(bench.work), "--json", str(out))
    done = lithify("eval", "all", *options, "--previous", str(earlier), **bench.environment)
    assert done.returncode == 0, done.stderr
    assert [line.split("|")[2].strip() for line in done.stdout.splitlines()[2:]] == [
        "shipped",
        "words leg",
        "meaning leg",
        "previous",
    ]
    figures = json.loads(out.read_bytes())["sets"]["data"]
    # The same memory and the same questions: nothing was ingested again.
    assert figures["ingest_seconds"] == recall["ingest_seconds"]
    assert figures["search"]["fraction"] == recall["search"]["fraction"]
    assert figures["foreign"] is None
    assert 0.8 < figures["assemble_details"]["1000"]["evidence_words"] <= figures["assemble"]["1000"]
    # Finished: the next run asks anew.
    assert not [path for path in bench.place.glob("answers-recall-*") if not path.name.endswith(".done.jsonl")]


def test_a_fit_is_printed_beside_the_shipped_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares = tuple(RelevanceWeights(dense=0.4, lexical=0.6))
    recall = {"1": 0.5, "5": 0.7, "10": 0.8}
    row = SetComparison(2, 1, shares, recall, recall, recall, None, recall, shipped_loss=0.01, mixture_loss=0.0)
    fit = MixtureFit(KindWeights.constant(shares, facts=2), {"data": row})
    monkeypatch.setattr("lithify.cli.eval.fit_profile", lambda *_, **__: fit)
    done = CliRunner().invoke(app, ["fit", "--data", str(prepared(tmp_path / "data"))], catch_exceptions=False)
    printed = json.loads(done.stdout)
    assert printed["sets"]["data"]["shares"]["lexical"] == 0.6
    assert printed["sets"]["data"]["mixture_held_out"] == recall
    assert printed["shipped_weights"]["people"] == pytest.approx(RECALL.normalise().relevance._asdict())
    assert printed["shipped_weights"]["chat"] == pytest.approx(RECALL.normalise().chat_relevance._asdict())
    assert printed["shipped_weights"]["dialogue"] == pytest.approx(RECALL.normalise().dialogue_relevance._asdict())


def test_foreign_questions_and_the_constants_of_relevance_are_measured_on_one_folder(
    tmp_path: Path, models_dir: Path
) -> None:
    """Two small conversations, ingested once by `foreign` and asked again inside the process by `fit`."""
    turns, questions = (read_rows(BENCHMARK / f"{name}.jsonl") for name in ("turns", "questions"))
    names = list(dict.fromkeys(row["conv"] for row in turns))[:2]
    kept = [[row for row in turns if row["conv"] == name][:24] for name in names]
    told = {(row["conv"], row["id"]) for rows in kept for row in rows}
    asked = [row for row in questions if row["evidence"] and all((row["conv"], e) in told for e in row["evidence"])]
    folder = prepared(tmp_path / "talks", [row for rows in kept for row in rows], asked)
    work, out, constants = tmp_path / "work", tmp_path / "foreign.json", tmp_path / "relevance.json"
    place = find_workplace(work, load_dataset("locomo", folder), Settings()).folder
    own = {"LITHIFY_MODELS_DIR": str(models_dir)}
    options = ("--data", str(folder), "--work", str(place), "--json", str(out), "--per-pair", "3")
    done = lithify("eval", "foreign", *options, **own)
    assert done.returncode == 0, done.stderr
    figures = json.loads(out.read_bytes())
    assert figures["own"]["n"] == len(asked)
    assert 0 < figures["foreign"]["n"] <= 6
    assert figures["foreign"]["tokens"] < figures["own"]["tokens"]
    assert figures["evidence"] > 0.8
    arguments = ["fit", "--data", str(folder), "--work", str(work), "--relevance", str(constants)]
    fitted = CliRunner(env=own).invoke(app, arguments, catch_exceptions=False)
    assert fitted.exit_code == 0, fitted.output
    written = RelevanceFile.model_validate_json(constants.read_bytes())
    assert written.family == default_profile()
    assert [(row.name, row.own, row.foreign) for row in written.data] == [("talks", 5 * len(asked), 5 * len(asked))]
    assert json.loads(fitted.stdout)["in_sample"]["talks"]["0.1"]["evidence"] > 0.8


def test_data_sets_of_the_same_name_are_not_fitted_together(tmp_path: Path) -> None:
    folder = str(prepared(tmp_path / "data"))
    assert "the same name" in str(refused("fit", "--data", folder, "--data", folder))


def refused(*arguments: str, **environment: str) -> LithifyError:
    """The command line turns such an error into one line and an exit code."""
    result = CliRunner(env=environment).invoke(app, list(arguments))
    assert isinstance(result.exception, LithifyError), result.output
    return result.exception


def test_a_malformed_file_is_refused_before_anything_runs(tmp_path: Path) -> None:
    folder = prepared(tmp_path, turns=[TURNS[0], b"{broken\n"])
    error = refused("locomo", "--data", str(folder))
    assert isinstance(error, Invalid)
    assert "turns.jsonl line 2 is not JSON" in str(error)


def test_figures_that_cannot_be_written_are_refused_before_anything_runs(tmp_path: Path) -> None:
    folder = prepared(tmp_path / "data")
    error = refused("locomo", "--data", str(folder), "--json", str(tmp_path / "missing" / "out.json"))
    assert "cannot be written" in str(error)


def test_parts_of_somebody_else_are_never_used(tmp_path: Path) -> None:
    folder = prepared(tmp_path / "data")
    error = refused("locomo", "--data", str(folder), LITHIFY_REDIS_URL="redis://production:6379")
    assert isinstance(error, Misconfigured)
    assert "LITHIFY_REDIS_URL" in str(error)


def test_full_precision_of_a_model_that_is_not_measured_is_refused(tmp_path: Path) -> None:
    folder = prepared(tmp_path / "data")
    error = refused("ablate", "--data", str(folder), "--fp32", "nomic-embed-text-v1.5")
    assert "--model" in str(error)
