"""The benchmarks' own files, by tiny ones of the same shape."""

from pathlib import Path
from typing import Any

import pytest

from lithify.errors import Invalid
from lithify.evaluation.datasets import load_dataset
from lithify.evaluation.datasets.locomo import evidence_turns
from tests.unit.evaluation.made_files import (
    BEAM_CHAT,
    as_json,
    beam_chat,
    locomo_sample,
    longmemeval_instance,
)


def test_locomo_sessions_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    dataset = load_dataset("locomo", as_json(tmp_path / "locomo10.json", [locomo_sample()]))
    assert [turn.event_id for turn in dataset.turns] == ["conv-1:D1:1", "conv-1:D1:2", "conv-1:D2:1"]
    assert dataset.turns[0].text == "Ada: Hi. [photo: a cat]"
    assert dataset.questions[0].evidence == {"conv-1:D1:1", "conv-1:D2:1"}
    assert (dataset.questions[0].category, dataset.skipped, dataset.dangling) == ("multi_hop", 1, 1)


@pytest.mark.parametrize(
    ("text", "turns"),
    [("D1:3", ["D1:3"]), ("D8:6; D9:17", ["D8:6", "D9:17"]), ("D30:05", ["D30:5"]), ("D:11:26", ["D11:26"]), ("D", [])],
)
def test_locomo_evidence_is_read_however_it_was_typed(text: str, turns: list[str]) -> None:
    assert evidence_turns(text) == turns


def test_longmemeval_questions_have_a_haystack_each(tmp_path: Path) -> None:
    other = longmemeval_instance(question_id="ff01")
    dataset = load_dataset("longmemeval", as_json(tmp_path / "s.json", [longmemeval_instance(), other]))
    assert [conversation.id for conversation in dataset.conversations] == ["e47b", "ff01"]
    question = dataset.questions[0]
    assert question.evidence == {"e47b:s_b_1"}
    assert question.sessions == {"e47b:s_b"}
    assert question.category == "single-session-user"
    assert question.now == 1_685_490_000_000  # 2023-05-30 23:40


def test_longmemeval_leaves_out_empty_messages_and_abstention(tmp_path: Path) -> None:
    abstention = longmemeval_instance(question_id="e47b_abs")
    dataset = load_dataset("longmemeval", as_json(tmp_path / "s.json", [longmemeval_instance(), abstention]))
    assert [turn.text for turn in dataset.turns] == ["I like tea.", "I finished physics."]


def test_a_longmemeval_session_may_be_evidence_without_a_marked_turn(tmp_path: Path) -> None:
    instance = longmemeval_instance(answer_session_ids=["s_a"])
    instance["haystack_sessions"][1][0].pop("has_answer")
    question = load_dataset("longmemeval", as_json(tmp_path / "s.json", [instance])).questions[0]
    assert not question.evidence
    assert question.sessions == {"e47b:s_a"}


def test_beam_batches_are_sessions_and_groups_of_evidence_are_joined(tmp_path: Path) -> None:
    beam_chat(tmp_path / "10")
    beam_chat(tmp_path / "2")
    dataset = load_dataset("beam", tmp_path)
    assert [conversation.id for conversation in dataset.conversations] == ["2", "10"]
    assert [turn.session for turn in dataset.conversations[0].turns] == ["2:1", "2:1", "2:1", "2:2"]
    assert dataset.questions[0].evidence == {"2:2", "2:3"}
    assert dataset.questions[0].category == "knowledge_update"
    assert dataset.skipped == 2
    assert dataset.turns[0].ts == 1_710_460_800_000  # 2024-03-15


def test_one_beam_chat_can_be_read_alone(tmp_path: Path) -> None:
    dataset = load_dataset("beam", beam_chat(tmp_path / "7"))
    assert [conversation.id for conversation in dataset.conversations] == ["7"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({}, "must hold a JSON list"),
        ([{"sample_id": "x"}], "item 0: conversation: Field required"),
        ([locomo_sample(conversation={"session_1": []})], "session_1_date_time"),
        ([locomo_sample(), locomo_sample()], "a sample_id is there twice"),
        ([locomo_sample(conversation={"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [{}]})], "dia_id"),
    ],
)
def test_a_malformed_locomo_file_is_refused(tmp_path: Path, content: Any, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        load_dataset("locomo", as_json(tmp_path / "locomo10.json", content))


def test_a_malformed_longmemeval_file_is_refused(tmp_path: Path) -> None:
    uneven = longmemeval_instance(haystack_dates=[])
    with pytest.raises(Invalid, match="question e47b: sessions, their ids and their dates differ in number"):
        load_dataset("longmemeval", as_json(tmp_path / "s.json", [uneven]))


@pytest.mark.parametrize(
    ("chat", "questions", "told"),
    [
        ([{"batch_number": 1}], {}, "item 0: turns: Field required"),
        (BEAM_CHAT, [], "must hold a JSON object of abilities"),
        (BEAM_CHAT, {"summarization": {}}, "summarization must be a list"),
        (BEAM_CHAT, {"summarization": [{}]}, "summarization 0: question: Field required"),
    ],
)
def test_a_malformed_beam_chat_is_refused(tmp_path: Path, chat: Any, questions: Any, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        load_dataset("beam", beam_chat(tmp_path / "1", chat, questions))


def test_a_folder_without_chats_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"neither chat\.json nor folders with one"):
        load_dataset("beam", tmp_path)
