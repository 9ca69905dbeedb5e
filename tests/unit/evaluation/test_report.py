"""The figures from answers that were made up, so that every number is known beforehand."""

from pathlib import Path

import pytest
from rich.console import Console

from lithify.evaluation.answers import BASELINES, BUDGETS, SEARCH, SESSIONS, PackedContext, RankedTurns, RecordedAnswer
from lithify.evaluation.datasets import Dataset, load_dataset
from lithify.evaluation.report import EvaluationSetup, Figures, make_figures, summary, tables
from tests.unit.evaluation.made_files import prepared

SETUP = EvaluationSetup("recall", "f" * 64, "all-minilm-l6-v2", "abc", 3.25)


def answer(question: str, turns: tuple[str, ...], tokens: int, degraded: tuple[str, ...] = ()) -> RecordedAnswer:
    ranking = RankedTurns(turns=turns, ms=float(tokens))
    words = {turns[0]: 0.25}
    return RecordedAnswer(
        question=question,
        rankings=dict.fromkeys((SEARCH, SESSIONS, *BASELINES), ranking),
        packed=dict.fromkeys(BUDGETS, PackedContext(turns=turns[:1], tokens=tokens, ms=1.0, words=words)),
        degraded=degraded,
    )


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return load_dataset("locomo", prepared(tmp_path / "data"))


@pytest.fixture
def report(dataset: Dataset) -> Figures:
    found = answer("q1", ("c1:D1:2",), 900)
    partly = answer("q2", ("noise", "c1:D2:1"), 1100, ("the query cannot be embedded",))
    return make_figures(dataset, {"q1": found, "q2": partly}, SETUP)


def test_the_report_has_the_promised_keys(report: Figures, dataset: Dataset) -> None:
    assert report["dataset"] == "locomo"
    assert report["file_sha256"] == dataset.sha256
    assert (report["n"], report["skipped"], report["turns"], report["conversations"]) == (2, 1, 4, 2)
    assert (report["profile"], report["profile_sha256"]) == ("recall", "f" * 64)
    assert report["ingest_seconds"] == 3.25
    assert list(report["baselines"]) == ["bm25", "dense"]
    for rows in (report["search"], *report["baselines"].values()):
        assert all(list(rows[measure]) == ["1", "5", "10", "20"] for measure in ("fraction", "any", "all", "ndcg"))


def test_turns_are_judged_over_all_questions_and_by_category(report: Figures) -> None:
    assert report["search"]["fraction"] == {"1": 0.5, "5": 0.75, "10": 0.75, "20": 0.75}
    assert report["search"]["all"]["20"] == 0.5
    by_category = report["search"]["by_category"]
    assert [(name, row["n"], row["fraction"]["5"]) for name, row in by_category.items()] == [
        ("multi_hop", 1, 0.5),
        ("single_hop", 1, 1.0),
    ]


def test_sessions_are_judged_by_their_best_turns(report: Figures) -> None:
    # q2 needs both sessions of c1 and found a turn of one; what is no turn has no session and takes no place.
    assert report["search"]["sessions"]["fraction"]["1"] == 0.75
    assert report["search"]["sessions"]["n"] == 2


def test_contexts_are_judged_by_what_they_hold_and_cost(report: Figures) -> None:
    assert report["assemble"] == {"1000": 0.5, "2000": 0.5, "4000": 0.5}
    details = report["assemble_details"]
    assert details["1000"]["evidence_words"] == 0.25
    assert (details["1000"]["tokens"], details["1000"]["over_budget"], details["2000"]["over_budget"]) == (1000, 1, 0)


def test_latency_and_degraded_answers_are_told(report: Figures) -> None:
    assert report["search"]["latency_ms"] == {"p50": 900.0, "p95": 1100.0}
    assert report["degraded"] == 1


def test_the_tables_fit_an_ordinary_terminal(report: Figures, dataset: Dataset) -> None:
    console = Console(width=80, record=True, file=Path("/dev/null").open("w"))  # noqa: SIM115 - closed below
    with console.file:
        for table in tables(report):
            console.print(table)
    text = console.export_text()
    assert "…" not in text
    assert "multi_hop (1)" in text
    assert dataset.sha256 in summary(report)
