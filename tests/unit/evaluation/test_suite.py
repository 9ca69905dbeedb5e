"""One table of many data sets: every ranking in its row, and an earlier run only beside the same questions."""

from pathlib import Path
from typing import Any

import pytest

from lithify.evaluation.answers import BASELINES, BUDGETS, SEARCH, SESSIONS, PackedContext, RankedTurns, RecordedAnswer
from lithify.evaluation.datasets import Dataset, load_dataset
from lithify.evaluation.report import EvaluationSetup, Figures, make_figures
from lithify.evaluation.suite import find_previous, sample_foreign
from lithify.evaluation.suite_table import suite_table
from tests.unit.evaluation.made_files import QUESTIONS, prepared

SETUP = EvaluationSetup("recall", "f" * 64, "all-minilm-l6-v2", "abc", 3.25)
ASKED = [*QUESTIONS, {"conv": "c2", "qid": "q4", "question": "What did Eve say?", "evidence": ["D1:1"]}]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return load_dataset(None, prepared(tmp_path / "talks", questions=ASKED))


def make_set(dataset: Dataset, /, **changes: Any) -> Figures:
    """Every question finds its first evidence, and nothing else."""
    answers = {}
    for question in dataset.questions:
        turns = tuple(sorted(question.evidence))[:1]
        ranking = RankedTurns(turns=turns, ms=7.0)
        answers[question.id] = RecordedAnswer(
            question=question.id,
            rankings=dict.fromkeys((SEARCH, SESSIONS, *BASELINES), ranking),
            packed=dict.fromkeys(BUDGETS, PackedContext(turns=turns, tokens=9, ms=1.0, words={turns[0]: 0.5})),
        )
    foreign = {"n": 3, "tokens": 41.6, "without_memory": 0.5}
    return make_figures(dataset, answers, SETUP) | {"evidence_per_question": 1.3, "foreign": foreign} | changes


def read_table(table: str) -> dict[str, list[str]]:
    lines = [[cell.strip() for cell in line[1:-1].split("|")] for line in table.splitlines()]
    return {cells[1]: cells for cells in lines[2:]}


def test_the_table_shows_each_ranking_of_each_set(dataset: Dataset) -> None:
    rows = read_table(suite_table({"sets": {"talks": make_set(dataset)}}))
    assert list(rows) == ["shipped", "words leg", "meaning leg"]
    assert rows["shipped"][:3] == ["talks", "shipped", ".833"]
    assert rows["shipped"][5:] == [".833", ".833", ".833", "42", "7", "7", "3"]
    assert rows["words leg"][5:8] == ["", "", ""]


def test_where_evidence_is_long_the_table_says_whether_any_was_found(dataset: Dataset) -> None:
    rows = read_table(suite_table({"sets": {"talks": make_set(dataset, evidence_per_question=40.0)}}))
    assert (rows["shipped"][2], rows["shipped, any"][2]) == (".833", "1.000")
    assert rows["words leg, any"][2] == "1.000"


def test_an_earlier_run_is_shown_beside_the_same_questions_only(dataset: Dataset) -> None:
    now = make_set(dataset)
    same = make_set(dataset, dataset="other name", foreign=None)
    fewer = make_set(dataset, n=1)
    assert find_previous(now, [{"sets": {"a": fewer, "b": same}}]) == same
    assert find_previous(now, [fewer, same]) == same
    assert find_previous(now, [fewer]) is None
    rows = read_table(suite_table({"sets": {"talks": now}}, [same]))
    assert rows["previous"][2] == ".833"
    assert rows["previous"][8] == ""


def test_a_set_of_one_conversation_has_no_foreign_figure(dataset: Dataset) -> None:
    rows = read_table(suite_table({"sets": {"talks": make_set(dataset, foreign=None)}}))
    assert rows["shipped"][8] == ""


def test_every_foreign_question_is_asked_of_another_conversation(dataset: Dataset) -> None:
    homes = {question.id: question.conversation for question in dataset.questions}
    asked = sample_foreign(dataset, 20)
    assert len(asked) == 3
    assert all(question.conversation != homes[question.id.split(" @ ")[0]] for question in asked)
    assert len(sample_foreign(dataset, 2)) == 2


def test_a_sample_of_questions_keeps_all_turns(dataset: Dataset) -> None:
    few = dataset.sample(2)
    assert [question.id for question in few.questions] == ["q1", "q2"]
    assert few.turns == dataset.turns
