"""Foreign questions: every ordered pair of conversations is asked, after the last turn of the one that is asked."""

from pathlib import Path

import pytest
from rich.console import Console

from lithify.errors import Invalid
from lithify.evaluation.answers import PackedContext, RecordedAnswer
from lithify.evaluation.datasets import Dataset, load_dataset
from lithify.evaluation.datasets.dataset import spread_evenly
from lithify.evaluation.foreign import BUDGET, make_foreign_figures, plan_foreign
from lithify.evaluation.report import EvaluationSetup, foreign_table, summary
from tests.unit.evaluation.made_files import QUESTIONS, TURNS, prepared

SETUP = EvaluationSetup("recall", "f" * 64, "all-minilm-l6-v2", "abc", 3.25)
ASKED = [*QUESTIONS, {"conv": "c2", "qid": "q4", "question": "What did Eve say?", "evidence": ["D1:1"]}]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    dates = {"c1": "2023-05-08", "c2": "2024-05-08"}
    turns = [turn | {"date": dates[turn["conv"]]} for turn in TURNS]
    return load_dataset("locomo", prepared(tmp_path / "data", turns, ASKED))


def test_every_conversation_is_asked_the_questions_of_every_other(dataset: Dataset) -> None:
    asked = plan_foreign(dataset, 20)
    assert [(question.id, question.conversation) for question in asked] == [
        ("q1 @ c2", "c2"),
        ("q2 @ c2", "c2"),
        ("q4 @ c1", "c1"),
    ]
    assert not any(question.evidence or question.sessions for question in asked)


def test_a_memory_is_asked_after_its_last_turn(dataset: Dataset) -> None:
    last = {c.id: max(turn.ts for turn in c.turns) for c in dataset.conversations}
    assert all(question.now > last[question.conversation] for question in plan_foreign(dataset, 20))


def test_a_few_questions_are_taken_from_first_to_last() -> None:
    assert list(spread_evenly("abcdefghij", 3)) == ["a", "d", "g"]
    assert list(spread_evenly("ab", 5)) == ["a", "b"]
    assert list(spread_evenly("", 5)) == []


def test_one_conversation_alone_is_refused(dataset: Dataset) -> None:
    with pytest.raises(Invalid, match="two conversations"):
        plan_foreign(dataset.first(1), 20)


def test_the_figures_tell_what_was_injected_and_what_of_the_evidence(dataset: Dataset) -> None:
    foreign = plan_foreign(dataset, 20)
    answers = {
        question.id: answer(question.id, tuple(question.evidence)[:1], 1000) for question in dataset.questions
    } | {question.id: answer(question.id, (), 0) for question in foreign}
    answers["q1 @ c2"] = answer("q1 @ c2", ("c2:D1:1",), 300)
    report = make_foreign_figures(dataset, foreign, answers, SETUP)
    assert report["own"] == {"n": 3, "tokens": 1000.0, "without_memory": 0.0}
    assert report["foreign"] == {"n": 3, "tokens": 100.0, "without_memory": pytest.approx(2 / 3)}
    assert report["foreign_to_own"] == pytest.approx(0.1)
    assert report["evidence"] == pytest.approx(2.5 / 3)
    console = Console(width=120)
    with console.capture() as printed:
        console.print(foreign_table(report))
    assert "100.0" in printed.get()
    assert "recall" in summary(report)


def answer(question: str, turns: tuple[str, ...], tokens: int) -> RecordedAnswer:
    return RecordedAnswer(
        question=question, rankings={}, packed={BUDGET: PackedContext(turns=turns, tokens=tokens, ms=1.0)}
    )
