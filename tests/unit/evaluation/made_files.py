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


def as_json(path: Path, value: Any) -> Path:
    path.write_bytes(orjson.dumps(value))
    return path


def _lines(path: Path, rows: list[Any]) -> None:
    path.write_bytes(b"".join(row if isinstance(row, bytes) else orjson.dumps(row) + b"\n" for row in rows))
