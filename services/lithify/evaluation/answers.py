"""What the system answered to one question, as it is kept between runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError


class Ranking(BaseModel):
    """Event ids, best first; a hit without one keeps its place under its own id."""

    model_config = ConfigDict(frozen=True)

    turns: tuple[str, ...]
    ms: float


class Packed(BaseModel):
    """Event ids of everything in an assembled context."""

    model_config = ConfigDict(frozen=True)

    turns: tuple[str, ...]
    tokens: int
    ms: float


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True)

    question: str
    rankings: dict[str, Ranking]
    packed: dict[int, Packed]
    degraded: tuple[str, ...] = ()


class Journal:
    """Answers on disk, one a line, so that an interrupted run goes on where it was."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.answers = {answer.question: answer for answer in _readable(path)}
        # Written anew at once: a line torn by a crash must not be continued by the next answer.
        path.write_text("".join(map(_line, self.answers.values())), encoding="utf-8")
        self._file = path.open("a", encoding="utf-8")

    def add(self, answer: Answer) -> None:
        self.answers[answer.question] = answer
        self._file.write(_line(answer))
        self._file.flush()

    def finish(self) -> None:
        """The next run asks everything again: the code that answers may have changed."""
        self._path.replace(self._path.with_suffix(".done.jsonl"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _readable(path: Path) -> Iterator[Answer]:
    if not path.exists():
        return
    for line in path.read_text("utf-8").splitlines():
        try:
            yield Answer.model_validate_json(line)
        except ValidationError:
            return


def _line(answer: Answer) -> str:
    return f"{answer.model_dump_json()}\n"
