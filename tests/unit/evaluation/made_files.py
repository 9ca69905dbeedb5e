"""Tiny benchmark files of our own, in every form the loaders read."""

from pathlib import Path
from typing import Any

import orjson

TURNS: list[dict[str, Any]] = [
    {"conv": "c1", "id": "D1:1", "session": "s1", "speaker": "Ada", "text": "Hello Ben.", "caption": None},
    {"conv": "c1", "id": "D1:2", "session": "s1", "speaker": "Ben", "text": "Look!", "caption": "a red kite"},
    {"conv": "c1", "id": "D2:1", "session": "s2", "speaker": "Ada", "text": "I moved.", "caption": None},
    {"conv": "c2", "id": "D1:1", "session": "s1", "speaker": "Eve", "text": "Good night.", "caption": None},
]
DATES = {"s1": "1:56 pm on 8 May, 2023", "s2": "10:04 am on 19 June, 2023"}
QUESTIONS: list[dict[str, Any]] = [
    {"conv": "c1", "qid": "q1", "question": "What flew?", "category": 4, "category_name": "single_hop"}
    | {"evidence": ["D1:2"]},
    {"conv": "c1", "qid": "q2", "question": "Who moved, and when?", "category_name": "multi_hop"}
    | {"evidence": ["D2:1", "D1:1"]},
    {"conv": "c2", "qid": "q3", "question": "Unanswerable?", "category_name": "adversarial", "evidence": []},
]


def prepared(folder: Path, turns: list[Any] | None = None, questions: list[Any] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    dated = [turn | {"date": DATES[turn["session"]]} for turn in TURNS]
    _lines(folder / "turns.jsonl", dated if turns is None else turns)
    _lines(folder / "questions.jsonl", QUESTIONS if questions is None else questions)
    return folder


def locomo_sample(**changes: Any) -> dict[str, Any]:
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_2_date_time": DATES["s2"],
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "Back again."}],
            "session_1_date_time": DATES["s1"],
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "Hi.", "img_url": ["x"], "blip_caption": "a cat"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Hi Ada."},
            ],
            "session_3_date_time": DATES["s2"],
        },
        "qa": [
            {"question": "Who?", "answer": 2022, "category": 1, "evidence": ["D1:1; D2:01"]},
            {"question": "Never?", "adversarial_answer": "x", "category": 5, "evidence": ["D9:9", "D"]},
        ],
    } | changes


def longmemeval_instance(**changes: Any) -> dict[str, Any]:
    return {
        "question_id": "e47b",
        "question_type": "single-session-user",
        "question": "Which degree did I finish?",
        "answer": "Physics",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s_a", "s_b"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/25 (Thu) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "I like tea."}, {"role": "assistant", "content": ""}],
            [{"role": "user", "content": "I finished physics.", "has_answer": True}],
        ],
        "answer_session_ids": ["s_b"],
    } | changes


BEAM_CHAT: list[dict[str, Any]] = [
    {
        "batch_number": 1,
        "turns": [
            [
                {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "Plan my sprint."},
                {"role": "assistant", "id": 1, "content": "Gladly."},
            ],
            [{"role": "user", "id": 2, "content": "It ends on Friday."}],
        ],
    },
    {"batch_number": 2, "turns": [[{"role": "user", "id": 3, "content": "It ends on Monday instead."}]]},
]
BEAM_QUESTIONS: dict[str, Any] = {
    "abstention": [{"question": "My age?", "ideal_response": "unknown"}],
    "knowledge_update": [
        {"question": "When does it end?", "source_chat_ids": {"original_info": [2], "updated_info": [3]}},
        {"question": "What did I plan?", "source_chat_ids": [0]},
    ],
}


def beam_chat(folder: Path, chat: Any = None, questions: Any = None) -> Path:
    (folder / "probing_questions").mkdir(parents=True)
    as_json(folder / "chat.json", BEAM_CHAT if chat is None else chat)
    file = folder / "probing_questions" / "probing_questions.json"
    as_json(file, BEAM_QUESTIONS if questions is None else questions)
    return folder


def realtalk_chat(**changes: Any) -> dict[str, Any]:
    return {
        "name": {"speaker_1": "Ada", "speaker_2": "Ben"},
        "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "clean_text": "The exam is over.", "text": "raw"}],
        "session_10_date_time": "12.01.2024, 18:00:00",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "clean_text": "I run at six.", "date_time": "29.12.2023, 16:05:31"},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "So early!", "blip_caption": "a wet street"},
            {"speaker": "Ben", "dia_id": "D1:2", "clean_text": "I would never."},
        ],
        "session_1_date_time": "29.12.2023, 16:05:31",
        "events_session_1": {"Ada": []},
        "qa": [
            {"question": "When does Ada run?", "answer": "at six", "evidence": ["D1:1"], "category": 1},
            {"question": "Who wrote an exam?", "answer": "Ben", "evidence": "['D10:1', 'D1:2']", "category": 3},
            {"question": "Why?", "answer": "?", "evidence": []},
        ],
    } | changes


def qmsum_meeting(**changes: Any) -> dict[str, Any]:
    return {
        "topic_list": [{"topic": "Budget", "relevant_text_span": [["0", "1"]]}],
        "general_query_list": [{"query": "Summarise the meeting.", "answer": "A budget."}],
        "specific_query_list": [
            {"query": "What of the budget?", "answer": "Ten", "relevant_text_span": [["0", "2"], ["4", "4"]]}
        ],
        "meeting_transcripts": [
            {"speaker": "Project Manager", "content": "The budget is ten."},
            {"speaker": "Marketing", "content": " "},
            {"speaker": "Marketing", "content": "Ten is little."},
            {"speaker": "Design", "content": "Shall we break?"},
            {"speaker": "Design", "content": "It has to do."},
        ],
    } | changes


def memdaily_streams() -> dict[str, Any]:
    stream = {
        "tid": 0,
        "message_list": [
            {"mid": 0, "message": "我的猫叫米米。", "time": "2024年04月01日 周一 08:39", "place": "上海"},
            {"mid": 1, "message": "今天下雨。", "time": "2024年04月01日 周一 19:35", "place": "上海"},
            {"mid": 2, "message": "米米三岁了。", "time": "2024年04月02日 周二 08:04", "place": "上海"},
        ],
        "QA": {"qid": 0, "question": "我的猫几岁？", "answer": "三岁", "target_step_id": [0, 2]}
        | {"choices": {"A": "三岁"}, "ground_truth": "A", "time": "2024年04月05日 周五 11:59"},
    }
    return {"simple": {"items": [stream]}, "noisy": {"items": [stream], "places": None}}


def as_json(path: Path, value: Any) -> Path:
    path.write_bytes(orjson.dumps(value))
    return path


def _lines(path: Path, rows: list[Any]) -> None:
    path.write_bytes(b"".join(row if isinstance(row, bytes) else orjson.dumps(row) + b"\n" for row in rows))
