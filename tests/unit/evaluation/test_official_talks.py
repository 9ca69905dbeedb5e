"""The files of REALTALK, QMSum, MemDaily and collections of documents, by tiny ones of the same shape."""

from pathlib import Path

import orjson
import pytest

from lithify.errors import Invalid
from lithify.evaluation.datasets import load_dataset
from lithify.evaluation.datasets.dataset import SourceTurn, build_conversation
from lithify.events.turn import MAX_TEXT_CHARS
from tests.unit.evaluation.made_files import as_json, memdaily_streams, qmsum_meeting, realtalk_chat


def test_realtalk_chats_are_conversations_with_sessions_in_order(tmp_path: Path) -> None:
    as_json(tmp_path / "Chat_10.json", realtalk_chat())
    as_json(tmp_path / "Chat_2.json", realtalk_chat())
    as_json(tmp_path / "notes.json", {"not": "a chat"})
    dataset = load_dataset("realtalk", tmp_path)
    assert [conversation.id for conversation in dataset.conversations] == ["Chat_2", "Chat_10"]
    first, second, _, last = dataset.conversations[0].turns
    assert (first.text, first.ts) == ("Ada: I run at six.", 1_703_865_931_000)  # 2023-12-29 16:05:31
    assert second.text == "Ben: So early! [photo: a wet street]"
    assert (last.event_id, last.text, last.session) == ("Chat_2:D10:1", "Ben: The exam is over.", "Chat_2:session_10")


def test_realtalk_evidence_may_be_a_list_or_a_text(tmp_path: Path) -> None:
    dataset = load_dataset("realtalk", as_json(tmp_path / "Chat_1.json", realtalk_chat()))
    asked = dataset.questions
    assert [(question.category, len(question.evidence)) for question in asked] == [("multi_hop", 1), ("commonsense", 2)]
    assert asked[1].evidence == {"Chat_1:D10:1", "Chat_1:D1:2"}
    assert (dataset.skipped, dataset.dangling) == (1, 0)


def test_a_realtalk_session_without_a_readable_date_has_that_of_its_messages(tmp_path: Path) -> None:
    chat = realtalk_chat(session_1_date_time="some day")
    dataset = load_dataset("realtalk", as_json(tmp_path / "Chat_1.json", chat))
    assert dataset.turns[0].ts == 1_703_865_931_000


def test_qmsum_spans_are_evidence_with_their_last_turn(tmp_path: Path) -> None:
    dataset = load_dataset("qmsum", as_json(tmp_path / "Bed01.json", qmsum_meeting()))
    [question] = dataset.questions
    # t1 is silence and no turn.
    assert question.evidence == {"Bed01:t0", "Bed01:t2", "Bed01:t4"}
    assert (dataset.skipped, dataset.dangling) == (1, 0)
    assert dataset.turns[0].text == "Project Manager: The budget is ten."


def test_the_meetings_of_a_qmsum_split_are_told_apart(tmp_path: Path) -> None:
    split = tmp_path / "val.jsonl"
    split.write_bytes(b"\n".join(orjson.dumps(qmsum_meeting()) for _ in range(2)))
    dataset = load_dataset("qmsum", split)
    assert [conversation.id for conversation in dataset.conversations] == ["val-1", "val-2"]


def test_memdaily_days_are_sessions_and_kinds_are_categories(tmp_path: Path) -> None:
    dataset = load_dataset("memdaily", as_json(tmp_path / "memdaily.json", memdaily_streams()))
    assert [conversation.id for conversation in dataset.conversations] == ["simple-items-0", "noisy-items-0"]
    turns = dataset.conversations[0].turns
    assert [turn.session.split(":", 1)[1] for turn in turns] == ["2024-04-01", "2024-04-01", "2024-04-02"]
    question = dataset.questions[0]
    assert question.evidence == {"simple-items-0:0", "simple-items-0:2"}
    assert (question.category, question.now) == ("simple", 1_712_318_340_000)  # 2024-04-05 11:59
    assert {turn.role for turn in turns} == {"user"}


def test_a_part_of_memdaily_is_read_alone(tmp_path: Path) -> None:
    [stream] = memdaily_streams()["simple"]["items"]
    part = [stream | {"QA": None, "question_list": [stream["QA"]]}]
    dataset = load_dataset("memdaily", as_json(tmp_path / "01_simple_items.json", part))
    assert [question.category for question in dataset.questions] == ["01_simple_items"]


def test_a_collection_of_documents_is_one_memory(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text(
        '{"id": 1, "title": "Tea", "text": "Pour."}\n{"id": 2, "text": "Salt."}\n'
    )
    (tmp_path / "questions.jsonl").write_text('{"qid": 1, "question": "What is poured?", "relevant": ["1"]}\n')
    dataset = load_dataset(None, tmp_path)
    assert [turn.text for turn in dataset.turns] == ["Tea\nPour.", "Salt."]
    assert dataset.questions[0].evidence == {"reader:1"}
    assert len({turn.session for turn in dataset.turns}) == 2


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("realtalk", {"qa": []}, "no chat with sessions"),
        ("realtalk", realtalk_chat(session_1=[{"text": "x"}]), "session_1: speaker: Field required"),
        ("qmsum", {"x": 1}, "no meeting"),
        ("qmsum", {"meeting_transcripts": [{}]}, "meeting 1: meeting_transcripts.0.speaker: Field required"),
        ("memdaily", {"simple": {"items": [{"tid": 0}]}}, "message_list: Field required"),
        ("memdaily", {}, "holds no messages"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, name: str, content: object, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        load_dataset(name, as_json(tmp_path / "file.json", content))


def test_a_turn_beyond_the_limit_of_the_gateway_is_cut_and_counted() -> None:
    lines = [SourceTurn("1", "s", "user", "x" * (MAX_TEXT_CHARS + 9), None), SourceTurn("2", "s", "user", "y", None)]
    conversation = build_conversation("c", lines)
    assert [len(turn.text) for turn in conversation.turns] == [MAX_TEXT_CHARS, 1]
    assert conversation.cut_turns == 1


def test_the_name_of_a_speaker_counts_for_the_limit() -> None:
    lines = [SourceTurn("1", "s", "Ada", "x" * MAX_TEXT_CHARS, None)]
    [turn] = build_conversation("c", lines).turns
    assert len(turn.text) == MAX_TEXT_CHARS
