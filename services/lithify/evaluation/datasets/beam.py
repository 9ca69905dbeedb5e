"""BEAM as its authors publish it: one folder per chat with chat.json and probing_questions.json."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lithify.errors import Invalid
from lithify.evaluation.datasets.dataset import Dataset, SourceQuestion, SourceTurn, build_dataset
from lithify.evaluation.datasets.files import FileRow, digest, flatten_ids, parse_row, read_date, read_json, read_list

CHAT = "chat.json"
QUESTIONS = "probing_questions.json"


class BeamMessage(FileRow):
    id: str
    role: str
    content: str
    time_anchor: str | None = None


class BeamBatch(FileRow):
    batch_number: str
    turns: tuple[tuple[BeamMessage, ...], ...]

    def messages(self) -> list[BeamMessage]:
        return [message for turn in self.turns for message in turn]


class Probe(FileRow):
    question: str
    source_chat_ids: Any = None  # a number, or numbers in lists and named groups; abstention has none


def load_beam(path: Path) -> Dataset:
    """`path` is one chat's folder or a folder of them."""
    chats = chat_folders(path)
    files = [file for chat in chats for file in (chat / CHAT, questions_file(chat))]
    lines = {chat.name: list(spoken_lines(chat / CHAT)) for chat in chats}
    asked = [question for chat in chats for question in questions_of(chat)]
    return build_dataset("beam", digest(files), lines, asked)


def is_beam(path: Path) -> bool:
    return (path / CHAT).exists() or next(path.glob(f"*/{CHAT}"), None) is not None


def chat_folders(path: Path) -> list[Path]:
    """Finds the chats, in the order of their numbers. Raises Invalid if there are none."""
    folders = [path.resolve()] if (path / CHAT).exists() else [found.parent for found in path.glob(f"*/{CHAT}")]
    if not folders:
        raise Invalid(f"{path} holds neither {CHAT} nor folders with one")
    return sorted(folders, key=lambda folder: (len(folder.name), folder.name))


def questions_file(chat: Path) -> Path:
    nested = chat / "probing_questions" / QUESTIONS
    return nested if nested.exists() else chat / QUESTIONS


def spoken_lines(file: Path) -> Iterator[SourceTurn]:
    """A batch is a session; its date stands at its first message."""
    for batch in read_list(file, BeamBatch):
        messages = batch.messages()
        anchor = next((message.time_anchor for message in messages if message.time_anchor), None)
        at = None if anchor is None else read_date(anchor)
        for message in messages:
            yield SourceTurn(
                id=message.id, session=batch.batch_number, speaker=message.role, text=message.content, at=at
            )


def questions_of(chat: Path) -> Iterator[SourceQuestion]:
    file = questions_file(chat)
    abilities = read_json(file)
    if not isinstance(abilities, dict):
        raise Invalid(f"{file} must hold a JSON object of abilities, not {type(abilities).__name__}")
    for ability, items in abilities.items():
        if not isinstance(items, list):
            raise Invalid(f"{file}: {ability} must be a list of questions")
        for number, item in enumerate(items):
            probe = parse_row(Probe, item, f"{file} {ability} {number}")
            evidence = list(flatten_ids(probe.source_chat_ids))
            yield SourceQuestion(
                id=f"{chat.name}-{ability}-{number}",
                conversation=chat.name,
                text=probe.question,
                category=ability,
                evidence=evidence,
            )
