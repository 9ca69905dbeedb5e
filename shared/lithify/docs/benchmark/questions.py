"""The questions of a benchmark, as people write them down in YAML."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lithify.errors import Invalid

MAX_QUESTIONS: Final = 1_000

Words = Annotated[str, Field(min_length=1, max_length=4_096)]
Name = Annotated[str, Field(min_length=1, max_length=128)]


class BenchmarkQuestion(BaseModel):
    """Holds what somebody asks and the documents of which one must be found; without any it is a negative control."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Name
    category: Name
    ask: Words
    expect: tuple[Words, ...] = ()
    hint: Words | None = None
    important: bool = False

    @property
    def ask_with_hint(self) -> str | None:
        """Returns the question with the word that an insider would have added."""
        return None if self.hint is None else f"{self.ask} {self.hint}"


class QuestionFile(BaseModel):
    """A file of questions, each of which has an id of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: tuple[BenchmarkQuestion, ...] = Field(min_length=1, max_length=MAX_QUESTIONS)

    @model_validator(mode="after")
    def _ids_differ(self) -> "QuestionFile":
        if twice := find_repeated(question.id for question in self.questions):
            raise ValueError(f"the id {twice!r} is used twice")
        return self


def find_repeated(ids: Iterable[str]) -> str | None:
    """Returns the first id that was there before; None if all differ."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            return one
        seen.add(one)
    return None


def read_questions(file: Path) -> tuple[BenchmarkQuestion, ...]:
    """Reads a file of questions. Raises Invalid, naming the field that is wrong."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"the questions in {file} cannot be read: {error}") from error
    return parse_questions(text, str(file))


def parse_questions(text: str, origin: str) -> tuple[BenchmarkQuestion, ...]:
    """Reads questions from YAML; `origin` names it in errors. Raises Invalid."""
    try:
        return QuestionFile.model_validate(yaml.safe_load(text)).questions
    except yaml.YAMLError as error:
        raise Invalid(f"{origin} is not YAML: {error}") from error
    except ValidationError as error:
        raise Invalid(f"{origin}: {explain(error)}") from error


def explain(error: ValidationError) -> str:
    """Says what is wrong at first, and where."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else f"{message}; expected `questions:` with id, category, ask and expect"
