"""REALTALK as its authors publish it: one file a chat of two real people, with sessions as LoCoMo has them."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lithify.errors import Invalid
from lithify.evaluation.datasets.dataset import Dataset, SourceQuestion, SourceTurn, build_dataset
from lithify.evaluation.datasets.files import FileRow, digest, list_files, parse_row, read_date, read_json
from lithify.evaluation.datasets.locomo import evidence_turns, session_numbers
from lithify.evaluation.datasets.prepared import UNSORTED, with_caption

CATEGORIES = {"1": "multi_hop", "2": "temporal", "3": "commonsense"}


class RealTalkMessage(FileRow):
    speaker: str
    clean_text: str | None = None
    text: str | None = None
    dia_id: str | None = None
    date_time: str | None = None
    blip_caption: str | None = None


class RealTalkQuestion(FileRow):
    question: str
    category: str | None = None
    evidence: Any = None


def is_realtalk(value: Any) -> bool:
    return isinstance(value, dict) and "qa" in value and bool(session_numbers(value))


def load_realtalk(path: Path) -> Dataset:
    """`path` is one chat's file or a folder of them; other files beside them are left alone."""
    chats = {file: value for file in list_files(path, ".json") if is_realtalk(value := read_json(file))}
    if not chats:
        raise Invalid(f"{path} holds no chat with sessions (session_1, …) and questions (qa)")
    lines = {file.stem: list(spoken_lines(chat, file)) for file, chat in chats.items()}
    asked = [question for file, chat in chats.items() for question in questions_of(chat, file)]
    return build_dataset("realtalk", digest(list(chats)), lines, asked)


def spoken_lines(chat: dict[str, Any], file: Path) -> Iterator[SourceTurn]:
    """A session without a readable date has that of its first message, or none."""
    seen: Counter[str] = Counter()
    for number in session_numbers(chat):
        session = f"session_{number}"
        said = [parse_row(RealTalkMessage, item, f"{file} {session}") for item in chat[session] or ()]
        dates = (chat.get(f"{session}_date_time"), *(message.date_time for message in said))
        at = next((moment for date in dates if (moment := read_date_if_any(date)) is not None), None)
        for place, message in enumerate(said, 1):
            name = message.dia_id or f"D{number}:{place}"
            seen[name] += 1
            yield SourceTurn(
                # People type ids by hand: of two alike, the first is the one that evidence means.
                id=name if seen[name] == 1 else f"{name} #{seen[name]}",
                session=session,
                speaker=message.speaker,
                text=with_caption(message.clean_text or message.text or "", message.blip_caption),
                at=at,
            )


def read_date_if_any(text: object) -> int | None:
    if not isinstance(text, str):
        return None
    try:
        return read_date(text)
    except Invalid:
        return None


def questions_of(chat: dict[str, Any], file: Path) -> Iterator[SourceQuestion]:
    for number, item in enumerate(chat["qa"]):
        row = parse_row(RealTalkQuestion, item, f"{file} qa {number}")
        yield SourceQuestion(
            id=f"{file.stem}-q{number}",
            conversation=file.stem,
            text=row.question,
            category=CATEGORIES.get(row.category or "", row.category or UNSORTED),
            evidence=evidence_turns(str(row.evidence or "")),
        )
