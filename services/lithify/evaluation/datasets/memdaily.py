"""MemDaily as its authors publish it: short streams of a user's messages with one question each, by kind and topic."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import Field

from lithify.errors import Invalid
from lithify.evaluation.datasets.dataset import Dataset, SourceQuestion, SourceTurn, build_dataset
from lithify.evaluation.datasets.files import FileRow, digest, flatten_ids, only_file, parse_row, read_json

_NUMBER = re.compile(r"\d+")


class DailyMessage(FileRow):
    mid: str
    message: str
    time: str | None = None


class DailyQuestion(FileRow):
    question: str
    target_step_id: Any = None
    time: str | None = None


class Trajectory(FileRow):
    tid: str
    message_list: tuple[DailyMessage, ...]
    QA: DailyQuestion | None = None
    question_list: tuple[DailyQuestion, ...] = Field(default=())  # before the release joined its parts

    @property
    def questions(self) -> tuple[DailyQuestion, ...]:
        return self.question_list if self.QA is None else (self.QA, *self.question_list)


def is_memdaily(value: Any) -> bool:
    return next((isinstance(item, dict) and "message_list" in item for _, item in walk(value)), False)


def load_memdaily(path: Path) -> Dataset:
    """`path` is memdaily.json or one of the parts it was joined from."""
    file = only_file(path, is_memdaily)
    streams = [(names, parse_row(Trajectory, item, f"{file} {names}")) for names, item in walk(read_json(file))]
    if not streams:
        raise Invalid(f"{file} holds no messages (message_list)")
    named = {"-".join((*names, stream.tid)): (names, stream) for names, stream in streams}
    if len(named) < len(streams):
        raise Invalid(f"{file}: a tid is there twice")
    lines = {name: list(spoken_lines(stream)) for name, (_, stream) in named.items()}
    asked = [
        question
        for name, (names, stream) in named.items()
        for question in questions_of(name, names[0] if names else file.stem, stream)
    ]
    return build_dataset("memdaily", digest([file]), lines, asked)


def walk(value: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields every item of the lists, with the names of the groups it lies in: kind and topic."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from walk(part, (*names, name))
    elif isinstance(value, list):
        yield from ((names, item) for item in value)


def spoken_lines(stream: Trajectory) -> Iterator[SourceTurn]:
    """A day is a session."""
    for message in stream.message_list:
        at = read_moment(message.time)
        day = "1" if at is None else datetime.fromtimestamp(at / 1000, UTC).date().isoformat()
        yield SourceTurn(id=message.mid, session=day, speaker="user", text=message.message, at=at)


def questions_of(name: str, kind: str, stream: Trajectory) -> Iterator[SourceQuestion]:
    for number, item in enumerate(stream.questions):
        yield SourceQuestion(
            id=f"{name}-q{number}",
            conversation=name,
            text=item.question,
            category=kind,
            evidence=list(flatten_ids(item.target_step_id)),
            at=read_moment(item.time),
        )


def read_moment(text: str | None) -> int | None:
    """Returns milliseconds since 1970 of a time like 2024年04月01日 周一 08:39, whatever stands between its numbers."""
    numbers = [int(number) for number in _NUMBER.findall(text or "")][:5]
    try:
        return round(datetime(*numbers, tzinfo=UTC).timestamp() * 1000)  # type: ignore[arg-type,misc]  # three to five
    except (TypeError, ValueError):
        return None
