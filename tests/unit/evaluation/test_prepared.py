"""The prepared form of a benchmark: read to the letter, refused with the place of the mistake."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from lithify.errors import Invalid
from lithify.evaluation.datasets import Dataset, load_dataset
from tests.unit.evaluation.made_files import QUESTIONS, TURNS, prepared


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return load_dataset("locomo", prepared(tmp_path / "data"))


def test_turns_become_events_of_a_user_named_like_the_conversation(dataset: Dataset) -> None:
    first, second = dataset.conversations[0].turns[:2]
    assert dataset.conversations[0].id == "c1"
    assert (first.event_id, first.session, first.role, first.text) == ("c1:D1:1", "c1:s1", "user", "Ada: Hello Ben.")
    assert (second.role, second.text) == ("assistant", "Ben: Look! [photo: a red kite]")


def test_turns_are_a_second_apart_from_the_date_of_their_session(dataset: Dataset) -> None:
    times = [(turn.ts, turn.seq) for turn in dataset.conversations[0].turns]
    assert times == [(1_683_554_160_000, 0), (1_683_554_161_000, 1), (1_687_169_040_000, 0)]


def test_questions_know_their_evidence_its_sessions_and_a_time_after_the_last_turn(dataset: Dataset) -> None:
    question = dataset.questions[1]
    assert question.evidence == {"c1:D2:1", "c1:D1:1"}
    assert question.sessions == {"c1:s1", "c1:s2"}
    assert question.category == "multi_hop"
    assert question.now > max(turn.ts for turn in dataset.turns)


def test_questions_without_evidence_are_counted_and_left_out(dataset: Dataset) -> None:
    assert [question.id for question in dataset.questions] == ["q1", "q2"]
    assert dataset.skipped == 1


def test_evidence_that_names_no_turn_is_counted_and_left_out(tmp_path: Path) -> None:
    wrong = QUESTIONS[0] | {"evidence": ["D1:2", "D7:7"]}
    dataset = load_dataset("locomo", prepared(tmp_path, questions=[wrong]))
    assert dataset.questions[0].evidence == {"c1:D1:2"}
    assert dataset.dangling == 1


def test_the_hash_is_of_both_files_in_one(dataset: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    content = (folder / "turns.jsonl").read_bytes() + (folder / "questions.jsonl").read_bytes()
    assert dataset.sha256 == hashlib.sha256(content).hexdigest()


def test_a_limit_keeps_the_first_conversations_and_their_questions(dataset: Dataset) -> None:
    assert [conversation.id for conversation in dataset.first(1).conversations] == ["c1"]
    assert len(dataset.first(1).questions) == 2


def test_undated_sessions_follow_one_another(tmp_path: Path) -> None:
    turns = load_dataset("beam", prepared(tmp_path, turns=TURNS)).conversations[0].turns
    assert turns[0].ts < turns[1].ts < turns[2].ts


def test_a_session_that_is_taken_up_again_goes_on_counting(tmp_path: Path) -> None:
    again = TURNS[0] | {"id": "D1:3"}
    turns = load_dataset("beam", prepared(tmp_path, turns=[*TURNS, again])).conversations[0].turns
    assert [turn.seq for turn in turns] == [0, 1, 0, 2]


def test_role_names_are_roles_and_not_part_of_the_text(tmp_path: Path) -> None:
    spoken = [TURNS[0] | {"speaker": "assistant"}, TURNS[1] | {"speaker": "user"}]
    turns = load_dataset("beam", prepared(tmp_path, turns=spoken, questions=QUESTIONS[:1])).turns
    assert [(turn.role, turn.text.split()[0]) for turn in turns] == [("assistant", "Hello"), ("user", "Look!")]


def test_a_question_without_a_category_is_still_asked(tmp_path: Path) -> None:
    bare = {key: value for key, value in QUESTIONS[1].items() if key != "category_name"}
    assert load_dataset("beam", prepared(tmp_path, questions=[bare])).questions[0].category == "all"


@pytest.mark.parametrize(
    ("turns", "questions", "told"),
    [
        ([TURNS[0], b"{broken\n"], None, "turns.jsonl line 2 is not JSON"),
        ([b"\n", {"conv": "c1"}], None, "turns.jsonl line 2: id: Field required"),
        ([TURNS[0] | {"date": "yesterday"}], None, "date 'yesterday' is in no known form"),
        ([TURNS[0], TURNS[0]], None, "turn of c1 'D1:1' is there twice"),
        (None, [["a list"]], "questions.jsonl line 1: Input should be"),
        (None, [QUESTIONS[0] | {"evidence": "D1:2"}], "questions.jsonl line 1: evidence: Input should be"),
        (None, [QUESTIONS[0], QUESTIONS[0]], "question 'q1' is there twice"),
        (None, [QUESTIONS[0] | {"conv": "c9"}], "conversation 'c9', which has no turns"),
        (None, [QUESTIONS[2]], "no question whose evidence is among its turns"),
    ],
)
def test_a_malformed_file_is_refused_with_the_place(
    tmp_path: Path, turns: list[Any] | None, questions: list[Any] | None, told: str
) -> None:
    with pytest.raises(Invalid, match=told):
        load_dataset("locomo", prepared(tmp_path, turns, questions))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (prepared(tmp_path) / "questions.jsonl").unlink()
    with pytest.raises(Invalid, match=r"questions\.jsonl cannot be read"):
        load_dataset("locomo", tmp_path)
    with pytest.raises(Invalid, match="nothing at"):
        load_dataset("locomo", tmp_path / "elsewhere")
