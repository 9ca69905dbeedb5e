"""Answers and work folders between runs: nothing torn is read, nothing foreign is mixed in."""

from pathlib import Path

import pytest

from lithify.errors import Invalid
from lithify.evaluation.answers import Journal, PackedContext, RankedTurns, RecordedAnswer
from lithify.evaluation.datasets import Dataset, load_dataset
from lithify.evaluation.workplace import FILE, Workplace
from tests.unit.evaluation.made_files import QUESTIONS, prepared


def answer(question: str) -> RecordedAnswer:
    ranking = RankedTurns(turns=("c1:D1:1",), ms=1.5)
    return RecordedAnswer(
        question=question, rankings={"search": ranking}, packed={1000: PackedContext(turns=(), tokens=0, ms=2.0)}
    )


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return load_dataset("locomo", prepared(tmp_path / "data"))


def test_answers_are_read_back_as_they_were(tmp_path: Path) -> None:
    with Journal(tmp_path / "a.jsonl") as journal:
        journal.add(answer("q1"))
    with Journal(tmp_path / "a.jsonl") as journal:
        assert journal.answers == {"q1": answer("q1")}


def test_a_line_torn_by_a_crash_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    whole = answer("q1").model_dump_json()
    path.write_text(f"{whole}\n{whole[:20]}")
    with Journal(path) as journal:
        assert list(journal.answers) == ["q1"]
        journal.add(answer("q2"))
    with Journal(path) as journal:
        assert list(journal.answers) == ["q1", "q2"]


def test_a_finished_run_is_not_taken_for_an_interrupted_one(tmp_path: Path) -> None:
    with Journal(tmp_path / "a.jsonl") as journal:
        journal.add(answer("q1"))
        journal.finish()
    assert (tmp_path / "a.done.jsonl").read_text().count("\n") == 1
    with Journal(tmp_path / "a.jsonl") as journal:
        assert journal.answers == {}


def test_a_work_folder_remembers_that_all_is_stored(tmp_path: Path, dataset: Dataset) -> None:
    assert not Workplace(tmp_path / "work", dataset).is_ingested
    Workplace(tmp_path / "work", dataset).mark_ingested(12.5)
    assert Workplace(tmp_path / "work", dataset).is_ingested
    assert Workplace(tmp_path / "work", dataset).contents.ingest_seconds == 12.5


def test_a_work_folder_of_other_data_is_refused(tmp_path: Path, dataset: Dataset) -> None:
    Workplace(tmp_path / "work", dataset)
    other = load_dataset("locomo", prepared(tmp_path / "other", questions=QUESTIONS[:1]))
    for foreign in (other, dataset.first(1)):
        with pytest.raises(Invalid, match="holds other data"):
            Workplace(tmp_path / "work", foreign)


def test_a_damaged_work_folder_is_refused(tmp_path: Path, dataset: Dataset) -> None:
    (tmp_path / FILE).write_text("{")
    with pytest.raises(Invalid, match="damaged"):
        Workplace(tmp_path, dataset)
